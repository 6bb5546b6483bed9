// SPDX-License-Identifier: Apache-2.0
#include "bench/results/all/all.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/results/report_program.hpp"
#include "bench/results/words.hpp"
#include "cardan/error.hpp"
#include "src/system/launcher/child_process.hpp"

namespace cardan::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kAllOk = 0, kAllFailed = 1, kAllUsage = 2, kAllLost = 3;
constexpr double kSecondsToEnd = 30;         // a part that is asked to end first reports what it has
constexpr std::size_t kMostLog = 4U << 20U;  // of a part that writes without end

volatile std::sig_atomic_t end_asked = 0;
void on_end(int /*signal*/) { end_asked = 1; }

/// While it lives, Ctrl-C, TERM and HUP arrive only in wait(), so that none is missed and nothing has to look for them.
class EndSignals {
 public:
  EndSignals() {
    end_asked = 0;
    struct sigaction action{};
    action.sa_handler = on_end;
    sigset_t ours;
    ::sigemptyset(&ours);
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      ::sigaction(kSignals[i], &action, &former_actions_[i]);
      ::sigaddset(&ours, kSignals[i]);
    }
    ::sigprocmask(SIG_BLOCK, &ours, &former_);
  }
  ~EndSignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &former_actions_[i], nullptr);
    ::sigprocmask(SIG_SETMASK, &former_, nullptr);
  }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  void wait(std::array<pollfd, 3>& fds, double seconds) const {
    timespec limit{};
    limit.tv_sec = static_cast<time_t>(std::max(0.0, seconds));
    limit.tv_nsec = 1'000'000;
    ::ppoll(fds.data(), fds.size(), &limit, &former_);
  }

 private:
  static constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, 3> former_actions_{};
  sigset_t former_{};
};

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
    EndSignals signals;
    int code = kAllOk;
    std::vector<PartState> before = std::move(state_);
    state_.clear();
    for (std::size_t i = 0; i < options_.parts.size() && end_asked == 0; ++i) {
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
        state_.push_back(run_part(part, signals));
      }
      const PartState& state = state_.back();
      if (state.code == kAllLost)
        say(fmt::format("{}: done, with loss: its table is {}", part.name, file(part, "txt")));
      else if (!state.finished())
        say(fmt::format("{} FAILED: {}; its log is {}", part.name, state.words, file(part, "log")));
      if (!state.finished())
        code = kAllFailed;
      else if (state.code == kAllLost && code == kAllOk)
        code = kAllLost;
      write_state(state_path(), state_);
    }
    if (end_asked != 0) {
      say("interrupted: --resume continues with what is not done");
      code = kAllFailed;
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

  PartState run_part(const PartRun& part, const EndSignals& signals) {
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
      watch(child, part, signals, state);
    } catch (const Error& e) {
      state.words = e.what();
    }
    state.seconds = seconds_since(start);
    if (state.finished() && !has_result(part)) {
      state.code = kAllFailed;
      state.words = "it left no result";
    }
    return state;
  }

  void watch(launcher::ChildProcess& child, const PartRun& part, const EndSignals& signals, PartState& state) {
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
          state.words = asked && end_asked != 0 ? "did not end when it was asked to"
                                                : fmt::format("hung: it ran for more than {}", name_of_duration(limit));
        else if (!ending->in_order() && state.code != kAllLost)
          state.words = fmt::format("{} ({})", launcher::text(*ending),
                                    errors.last().empty() ? "it said nothing" : errors.last());
        if (killed || (asked && state.finished())) state.code = killed ? -1 : kAllFailed;
        if (asked && state.words.empty()) state.words = "was interrupted";
        return;
      }
      if (end_asked != 0 && !asked) {
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
      signals.wait(fds, until - seconds_since(start) + 0.01);
    }
  }

  /// Of the parts in the state file, not of what another run has left in the folder.
  int report(int code) {
    write_state(state_path(), state_);
    const int written = run_report_program({"all", "--", options_.out});
    return written == 0 ? code : kAllFailed;
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
  try {
    return AllParts(options).run();
  } catch (const Error& e) {
    fmt::print(stderr, "cardan bench all: {}\n", e.what());
    return e.code() == ErrorCode::InvalidArgument ? kAllUsage : kAllFailed;
  }
}

int run_all(const AllArguments& arguments) {
  AllOptions options{.parts = parts_of_selection(arguments.selection, arguments.peers, arguments.cpu_budget),
                     .out = arguments.out,
                     .resume = arguments.resume};
  if (options.parts.empty()) {
    fmt::print(stderr, "cardan bench all: --selection: there is no `{}` — use quick or full\n", arguments.selection);
    return kAllUsage;
  }
  if (!arguments.only.empty()) {
    const std::string wanted = "," + arguments.only + ",";
    const std::string names = names_of(options.parts);
    std::erase_if(options.parts,
                  [&](const PartRun& p) { return wanted.find("," + p.name + ",") == std::string::npos; });
    if (options.parts.size() != static_cast<std::size_t>(std::count(wanted.begin(), wanted.end(), ',')) - 1) {
      fmt::print(stderr, "cardan bench all: --only {} — use some of {}\n", arguments.only, names);
      return kAllUsage;
    }
  }
  return run_all_parts(options);
}

}  // namespace cardan::bench
