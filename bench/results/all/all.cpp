// SPDX-License-Identifier: Apache-2.0
#include "bench/results/all/all.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/results/arguments.hpp"
#include "bench/results/exit_code.hpp"
#include "bench/results/occasion.hpp"
#include "bench/results/report_program.hpp"
#include "bench/results/words.hpp"
#include "cardan/error.hpp"
#include "src/system/launcher/child_process.hpp"

namespace cardan::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kSecondsToEnd = 30;         // a part that is asked to end first reports what it has
constexpr std::size_t kMostLog = 4U << 20U;  // of a part that writes without end

/// The output of a child goes to a file, and its last line to the screen.
class Drain {
 public:
  explicit Drain(const fs::path& file) : file_(file, std::ios::binary) {}

  /// False: the child has closed it.
  bool take(int fd) {
    std::array<char, 4096> some{};
    for (;;) {
      const ssize_t n = ::read(fd, some.data(), some.size());
      if (n < 0) return true;
      if (n == 0) return false;
      const auto size = static_cast<std::size_t>(n);
      if (written_ < kMostLog) file_.write(some.data(), n);
      written_ += size;
      for (std::size_t i = 0; i < size; ++i) {
        if (some[i] == '\n') {
          if (!line_.empty()) last_ = std::move(line_);
          line_.clear();
        } else if (line_.size() < 300) {
          line_ += some[i];
        }
      }
    }
  }
  [[nodiscard]] const std::string& last() const noexcept { return line_.empty() ? last_ : line_; }

 private:
  std::ofstream file_;
  std::size_t written_ = 0;
  std::string line_, last_;
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class AllParts {
 public:
  explicit AllParts(const AllOptions& options)
      : options_(options), out_(options.out), terminal_(::isatty(STDERR_FILENO) == 1) {
    std::error_code error;
    fs::create_directories(out_ / "parts", error);
    if (error)
      throw Error(ErrorCode::System, fmt::format("cannot make {}: {}", (out_ / "parts").string(), error.message()),
                  "give --out a folder that you may write");
    if (options_.resume) state_ = read_state(state_path());
    static_cast<void>(report_interpreter());  // not after minutes of measuring
  }

  int run() {
    catch_stop();
    int code = kOk;
    std::vector<PartState> before = std::move(state_);
    state_.clear();
    for (std::size_t i = 0; i < options_.parts.size() && !is_stopped(); ++i) {
      const PartRun& part = options_.parts[i];
      const auto done = std::find_if(before.begin(), before.end(), [&](const PartState& s) {
        return s.name == part.name && s.arguments == part.arguments && s.finished() && has_result(part);
      });
      if (done != before.end()) {
        say(fmt::format("{} of {}: {} is done already", i + 1, options_.parts.size(), part.name));
        state_.push_back(*done);
      } else {
        say(fmt::format("{} of {}: {}, about {} left for all", i + 1, options_.parts.size(), part.name,
                        name_of_duration(left_from(i))));
        state_.push_back(run_part(part));
      }
      const PartState& state = state_.back();
      if (state.code == kWithLoss)
        say(fmt::format("{}: done, with loss: its table is {}", part.name, file(part, "txt")));
      else if (!state.finished())
        say(fmt::format("{} FAILED: {}; its log is {}", part.name, state.words, file(part, "log")));
      if (!state.finished())
        code = kFailed;
      else if (state.code == kWithLoss && code == kOk)
        code = kWithLoss;
      write_state(state_path(), state_);
    }
    if (is_stopped()) {
      say("interrupted: --resume continues with what is not done");
      code = kFailed;
    }
    return report(code);
  }

 private:
  [[nodiscard]] std::string state_path() const { return (out_ / "state.json").string(); }
  [[nodiscard]] std::string file(const PartRun& part, const char* ending) const {
    return (out_ / "parts" / (part.name + "." + ending)).string();
  }
  /// Whether it ended with all that it wanted to write; the report looks closer.
  [[nodiscard]] bool has_result(const PartRun& part) const {
    std::ifstream in(file(part, "json"), std::ios::binary);
    const auto json = nlohmann::json::parse(in, nullptr, false);
    return json.is_object() && json.contains("measurements") && json.at("measurements").is_array();
  }
  /// The expected seconds of the parts from `first` on, by how long those before took.
  [[nodiscard]] double left_from(std::size_t first) const {
    double took = 0;
    double expected = 0;
    for (std::size_t i = 0; i < first; ++i) {
      if (state_[i].seconds <= 0 || !state_[i].finished()) continue;
      took += state_[i].seconds;
      expected += options_.parts[i].expected_seconds;
    }
    double left = 0;
    for (std::size_t i = first; i < options_.parts.size(); ++i) left += options_.parts[i].expected_seconds;
    return expected > 0 ? left * took / expected : left;
  }

  PartState run_part(const PartRun& part) {
    PartState state{.name = part.name, .arguments = part.arguments};
    std::error_code ignored;
    fs::remove(file(part, "json"), ignored);  // a file of an earlier run must not count as this run's result
    launcher::ChildOptions child_options{.program = options_.program, .arguments = options_.program_arguments};
    child_options.arguments.push_back(part.command);
    child_options.arguments.insert(child_options.arguments.end(), part.arguments.begin(), part.arguments.end());
    child_options.arguments.insert(child_options.arguments.end(), {"--json", file(part, "json")});
    const auto start = Clock::now();
    try {
      launcher::ChildProcess child(child_options);
      watch(child, part, state);
    } catch (const Error& e) {
      state.words = e.what();
    }
    state.seconds = seconds_since(start);
    if (state.finished() && !has_result(part)) {
      state.code = kFailed;
      state.words = "it left no result";
    }
    return state;
  }

  void watch(launcher::ChildProcess& child, const PartRun& part, PartState& state) {
    Drain output(file(part, "txt"));
    Drain errors(file(part, "log"));
    const double limit = std::max(options_.least_limit_seconds, kLongest * part.expected_seconds);
    const auto start = Clock::now();
    double until = limit;
    bool asked = false;
    bool killed = false;
    for (;;) {
      const auto ending = child.ended();
      if (child.output_fd() >= 0 && !output.take(child.output_fd())) child.close_output();
      if (child.error_fd() >= 0 && !errors.take(child.error_fd())) child.close_error();
      show(part, errors.last());
      if (ending) {
        state.code = ending->signal == 0 ? ending->exit_code : -1;
        if (killed)
          state.words = asked && is_stopped() ? "did not end when it was asked to"
                                              : fmt::format("hung: it ran for more than {}", name_of_duration(limit));
        else if (!ending->in_order() && state.code != kWithLoss)
          state.words = fmt::format("{} ({})", launcher::text(*ending),
                                    errors.last().empty() ? "it said nothing" : errors.last());
        if (killed || (asked && state.finished())) state.code = killed ? -1 : kFailed;
        if (asked && state.words.empty()) state.words = "was interrupted";
        return;
      }
      if (is_stopped() && !asked) {
        child.signal(SIGINT);
        asked = true;
        until = seconds_since(start) + kSecondsToEnd;
      }
      if (seconds_since(start) > until && !killed) {
        child.signal(SIGKILL);
        killed = true;
        until = seconds_since(start) + kSecondsToEnd;
      }
      std::array<pollfd, 3> fds{
          {{child.end_fd(), POLLIN, 0}, {child.output_fd(), POLLIN, 0}, {child.error_fd(), POLLIN, 0}}};
      // A signal ends it at once, unless it came just before.
      const double seconds = std::clamp(until - seconds_since(start), 0.0, 1.0);
      ::poll(fds.data(), fds.size(), static_cast<int>(1000 * seconds) + 1);
    }
  }

  /// Of the parts in the state file, not of what another run has left in the folder.
  int report(int code) {
    write_state(state_path(), state_);
    const int written = run_report_program({"all", "--", options_.out});
    return written == 0 ? code : kFailed;
  }

  void say(const std::string& words) {
    if (dirty_) fmt::print(stderr, "\r\033[K");
    dirty_ = false;
    fmt::print(stderr, "cardan bench: {}\n", words);
    std::fflush(stderr);
  }
  // The progress of the child, on a terminal.
  void show(const PartRun& part, const std::string& line) {
    if (!terminal_ || line.empty()) return;
    fmt::print(stderr, "\r\033[K{}: {}", part.name, line.substr(0, 70));
    std::fflush(stderr);
    dirty_ = true;
  }

  const AllOptions& options_;
  fs::path out_;
  bool terminal_;
  bool dirty_ = false;
  std::vector<PartState> state_;
};

}  // namespace

int run_all_parts(const AllOptions& options) {
  return exit_code_of("all", [&] { return AllParts(options).run(); });
}

int run_all(const AllArguments& arguments) {
  return exit_code_of("all", [&] {
    AllOptions options{.parts = parts_of_selection(arguments.selection, arguments.peers, arguments.cpu_budget),
                       .out = arguments.out,
                       .resume = arguments.resume};
    if (options.parts.empty())
      refuse(fmt::format("--selection: there is no `{}`", arguments.selection), "use quick or full");
    const std::vector<std::string> wanted = some_of("--only", arguments.only, names_of(options.parts));
    std::erase_if(options.parts, [&](const PartRun& part) {
      return std::find(wanted.begin(), wanted.end(), part.name) == wanted.end();
    });
    return run_all_parts(options);
  });
}

}  // namespace cardan::bench
