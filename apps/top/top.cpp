// SPDX-License-Identifier: Apache-2.0
// `cardan top`: processes, topics, callbacks, chains and services of a domain, live.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "apps/command.hpp"
#include "apps/terminal/keys.hpp"
#include "apps/terminal/output.hpp"
#include "apps/top/figures.hpp"
#include "apps/top/full_terminal.hpp"
#include "apps/top/state.hpp"
#include "apps/verb.hpp"
#include "cardan/clock.hpp"
#include "cardan/stop.hpp"

namespace cardan::apps::top {
namespace {

using namespace std::chrono_literals;

constexpr const char* kExamples = R"(Examples:
  cardan top                              processes; keys: 1-5 views, / filter, s sort, c by CPU, Enter details, ? help
  cardan top --view topics --filter camera
  cardan top --once                       measures for a second, prints all tables, ends
  cardan top --json | jq '.topics[] | {topic, rate_hz, lost}'

Looking disturbs nobody: the helper threads of the processes answer once a measurement, and CPU times come from /proc.
CPU % is of one core. LOST counts since the view began; latencies are of the last measurement.
Exit codes: 0 ok, 1 failed, 2 wrong options, 3 done, but samples were lost meanwhile.)";

struct TopOptions {
  std::string domain, view = "processes", filter;
  double seconds = 1;
  bool once = false, json = false;
};

View view_of(const std::string& name) {
  for (const View view : kViews)
    if (name == name_of(view)) return view;
  return View::Processes;
}

/// Looks again and again, on its own thread: a process that does not answer keeps nobody from pressing keys.
/// Any thread; takes a mutex.
class Looker {
 public:
  Looker(const std::string& domain, double seconds)
      : period_(static_cast<std::int64_t>(seconds * 1e9)), thread_([this, domain] { run(domain); }) {}
  ~Looker() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  Looker(const Looker&) = delete;
  Looker& operator=(const Looker&) = delete;

  /// The looks since the last call. Throws the error of a look.
  std::optional<Figures> take() {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    return std::exchange(newest_, {});
  }
  [[nodiscard]] std::uint64_t lost() {
    const std::lock_guard lock(mutex_);
    return lost_;
  }

 private:
  void run(const std::string& domain) {
    std::unique_lock lock(mutex_);
    try {
      Collector collector(domain);
      // The first figures come soon: one look has totals only.
      for (auto wait = std::min<std::chrono::nanoseconds>(period_, 300ms); !ends_;) {
        lock.unlock();
        Figures figures = collector.look();
        lock.lock();
        lost_ += figures.lost;
        newest_ = std::move(figures);
        wake_.wait_for(lock, wait, [this] { return ends_; });
        wait = period_;
      }
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      failure_ = std::current_exception();
    }
  }

  std::chrono::nanoseconds period_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;
  std::optional<Figures> newest_;
  std::uint64_t lost_ = 0;
  std::exception_ptr failure_;
  std::thread thread_;
};

int show_on_terminal(const TopOptions& o) {
  stop_on_hang_up();
  Looker looker(o.domain, o.seconds);
  State state(view_of(o.view), o.filter);
  {
    FullTerminal terminal;
    Keyboard keyboard;
    const bool had_keys = keyboard.is_there();
    const bool colours = wants_colours();
    Room drawn_for{0, 0};
    bool changed = true;
    while (!stopping() && !state.ended() && keyboard.is_there() == had_keys) {
      if (auto figures = looker.take()) {
        state.take(std::move(*figures));
        changed = true;
      }
      const Room size = terminal_size();
      if (changed || terminal.came_back() || size != drawn_for) {
        if (!terminal.draw(state.screen(size, colours))) return kFailed;
        drawn_for = size;
        changed = false;
      }
      for (const char32_t key : keyboard.wait(100ms)) {
        state.press(key);
        changed = true;
      }
    }
  }
  return looker.lost() != 0 ? kLoss : kOk;
}

std::string all_sheets(const Figures& figures, const TopOptions& o) {
  std::string out = summary_of(figures) + "\n";
  for (const View view : kViews) {
    Sheet sheet = sheet_of(figures, view);
    filter(sheet, o.filter);
    const std::string text = text_of(sheet);
    out += text.empty() ? "" : "\n" + text;
  }
  return out;
}

/// Where nothing can be drawn, and for programs.
int print(const TopOptions& o) {
  Collector collector(o.domain);
  std::set<std::string> told;
  std::uint64_t lost = 0;
  (void)collector.look();
  do {
    const std::int64_t until = steady_now() + static_cast<std::int64_t>(o.seconds * 1e9);
    const bool whole = sleep_for(std::chrono::nanoseconds(until - steady_now()));
    if (!whole && !o.once) break;
    if (!whole) warn("interrupted: the figures cover a shorter time");
    const Figures figures = collector.look();
    lost += figures.lost;
    constexpr std::size_t kMostProblems = 64;
    for (const std::string& problem : figures.problems)
      if (told.size() < kMostProblems && told.insert(problem).second) warn(problem);
    if (!emit(o.json ? json_of(figures) + "\n" : all_sheets(figures, o) + (o.once ? "" : "\n"))) return kFailed;
  } while (!o.once && !stopping());
  return lost != 0 ? kLoss : kOk;
}

int top(const TopOptions& o) {
  stop_on_signals();
  return o.once || o.json || !can_draw() ? print(o) : show_on_terminal(o);
}

}  // namespace

static void add_top_command(CLI::App& app) {
  auto o = std::make_shared<TopOptions>();
  auto* const command = add_verb(
      &app, "top", "Processes, topics, callbacks, chains and services, live: rates, latencies, loss, CPU", kExamples);
  command->add_option("--view", o->view, "View to begin with")
      ->check(CLI::IsMember({"processes", "topics", "callbacks", "chains", "services"}));
  command->add_option("--filter", o->filter, "Only what has this in one of its names");
  command->add_option("--seconds", o->seconds, "Length of a measurement (default: 1)")->check(CLI::Range(0.1, 3600.0));
  command->add_flag("--once", o->once, "Measure once, print, end");
  command->add_flag("--json", o->json, "One JSON object per measurement, one per line");
  add_domain_option(command, o->domain);
  list_with(command, top, o, [](const TopOptions&) { return false; });
}

const Command kTopCommand{110, add_top_command};

}  // namespace cardan::apps::top
