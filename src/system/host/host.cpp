// SPDX-License-Identifier: Apache-2.0
#include "src/system/host/host.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "cardan/realtime.hpp"
#include "cardan/stop.hpp"
#include "src/base/bound_fd.hpp"
#include "src/config/suggest.hpp"
#include "src/runtime/runtime.hpp"
#include "src/system/host/chain_news.hpp"
#include "src/system/host/control_service.hpp"
#include "src/system/host/crash_report.hpp"
#include "src/system/host/host_answers.hpp"
#include "src/system/host/launcher_lines.hpp"
#include "src/system/host/watchdog.hpp"
#include "src/transport/discovery/process.hpp"
#include "src/transport/endpoint/waiting.hpp"

namespace cardan::host {
namespace {

/// How long a restart waits for the callbacks of the component's groups. No requests are answered meanwhile.
constexpr std::chrono::nanoseconds kPause = std::chrono::seconds{1};

/// Restarts of one component that a rule asked for.
struct Restarts {
  std::deque<std::int64_t> times;  ///< within the window
  std::uint64_t count = 0;
  std::int64_t due = 0;  ///< when the next one may be; 0: none is asked for
};

/// A restart that an operator asked for.
struct Wish {
  std::string component;
  std::promise<HostAnswers::Restarted> done;
  std::promise<void> sent;      ///< the answer is on its way
  Atomic<bool> decided{false};  ///< by the host, which starts it, or by the client, which waits no longer
};

class Host {
 public:
  Host(const config::Configuration& configuration, const config::Process& process, const HostOptions& options,
       LauncherLines& launcher)
      : configuration_(configuration),
        process_(process),
        options_(options),
        launcher_(launcher),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        runtime_(runtime_options()),
        watchdog_([](const Watchdog::Late& late) { crash_report::die_of(late.thread, late.text()); },
                  [this](const Watchdog::Late& late) { say_hang(late); }) {}
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host() { crash_report::know(nullptr); }

  void run() {
    if (configuration_.realtime) report(realtime({.lock_memory = true}), "this process");
    for (config::Component settings : process_.components) {
      launcher_.load(settings.name);
      settings.library = component_library_path(settings.library, configuration_.file_of(settings));
      runtime_.add(std::move(settings));
    }
    runtime_.start();
    for (const auto& group : runtime_.groups())
      for (const RealtimeReport& worker : group->realtime_reports()) report(worker, group->options().name);
    if (configuration_.realtime && refused_.empty())
      detail::log(LogLevel::Info, "realtime: everything requested was granted");
    service_ = std::make_unique<ControlService>(
        runtime_.options().domain,
        [this](const std::string& request, std::chrono::nanoseconds age) { return answers_.answer(request, age); });
    launcher_.ready();
    while (!stopping()) {
      std::int64_t next = restart_what_is_due();
      grant_wishes();
      if (stopping()) break;
      for (const std::int64_t due : {say_repeated_failures(), tell_exceptions(), chain_news_.tell(steady_now())})
        if (due != 0) next = next == 0 ? due : std::min(next, due);
      std::array<detail::Foreign, 1> wake{{{wake_.get()}}};
      detail::sleep_on({}, wake, next, false);
      eventfd_t count = 0;
      ::eventfd_read(wake_.get(), &count);
    }
    launcher_.ends();
    refuse_wishes();
    service_.reset();
    chain_news_.tell(steady_now(), true);
    runtime_.stop();
    tell_ns_ = 0;
    tell_exceptions();
  }

 private:
  HostAnswers::Parts parts() {
    return {.process = process_.name,
            .restarts =
                [this](const std::string& component) {
                  const std::lock_guard lock(mutex_);
                  const auto found = restarts_.find(component);
                  return found == restarts_.end() ? std::uint64_t{0} : found->second.count;
                },
            .restart = [this](const std::string& component,
                              std::chrono::nanoseconds within) { return restart_for_operator(component, within); },
            .keep = [this](const std::string& text) { launcher_.keep(text); }};
  }
  RuntimeOptions runtime_options() {
    RuntimeOptions options;
    options.domain = configuration_.domain;
    options.process = process_.name;
    options.groups = process_.groups;
    options.topics = configuration_.topics;
    options.chains = configuration_.chains;
    for (const config::Process& process : configuration_.processes)
      for (const config::Component& component : process.components) options.hops.push_back(component.name);
    options.cycles = true;
    options.poison = options_.poison;
    options.log_levels = options_.log_levels;
    options.on_begin = [this](const std::string& component) { launcher_.start(component); };
    options.await_recorders = std::chrono::milliseconds{500};
    options.on_failure = [this](const std::string& component, const std::string& callback, const std::string& what) {
      failed(component, callback, what);
    };
    options.on_change = [this](bool declared) {
      crash_report::know(declared ? &runtime_ : nullptr);
      if (!declared) forget_what_was_due();
      if (declared) watchdog_.watch(runtime_);
    };
    return options;
  }

  /// The component that is being restarted has stopped. Its successor may fail before runtime_.restart() comes back:
  /// that is a separate restart.
  void forget_what_was_due() {
    const std::lock_guard lock(mutex_);
    Restarts& r = restarts_[restarting_];
    if (r.due != 0 && by_rule_) r.times.push_back(steady_now());
    r.due = 0;
  }

  /// When to do that again; 0: when an exception comes.
  std::int64_t say_repeated_failures() {
    counting_.store(false);  // first: what fails from here on wakes this thread
    const std::int64_t next = runtime_.say_repeated_failures();
    if (next != 0) counting_.store(true);
    return next;
  }

  /// Tells the launcher how many exceptions left callbacks, twice a second at most. Returns when to do that again; 0:
  /// when an exception comes.
  std::int64_t tell_exceptions() {
    constexpr std::int64_t kDistance = 500'000'000;
    if (!untold_.load()) return 0;
    const std::int64_t now = steady_now();
    if (now < tell_ns_) return tell_ns_;
    tell_ns_ = now + kDistance;
    untold_.store(false);  // first: what is thrown from here on wakes this thread
    std::map<std::string, std::uint64_t> threw;
    {
      const std::lock_guard lock(mutex_);
      threw = threw_;
    }
    for (const auto& [component, number] : threw)
      if (std::exchange(told_[component], number) != number) launcher_.threw(component, number);
    return 0;
  }

  /// On the watchdog's thread.
  void say_hang(const Watchdog::Late& late) const {
    detail::log(LogLevel::Warning,
                fmt::format("{} — watchdog_ms would end and restart its process; cardan run --restart {} does it now",
                            late.text(), process_.name));
  }

  void report(const RealtimeReport& all, const std::string& of) {
    for (const RealtimeGrant& grant : all.grants) {
      if (grant.granted && grant.cause.empty()) continue;
      const std::string text = fmt::format("realtime: {}: {} {}: {} — {}", of, grant.what,
                                           grant.granted ? "granted in part" : "refused", grant.cause, grant.remedy);
      if (refused_.insert(text).second) detail::log(LogLevel::Warning, text);  // once for all workers of a group
    }
  }

  /// On the worker whose callback threw.
  void failed(const std::string& component, const std::string& callback, const std::string& what) {
    std::uint64_t threw = 0;
    {
      const std::lock_guard lock(mutex_);
      threw = ++threw_[component];
    }
    if (const bool untold = untold_.exchange(true); !counting_.exchange(true) || !untold)
      ::eventfd_write(wake_.get(), 1);
    const config::Component* settings = process_.component(component);
    switch (settings != nullptr ? settings->on_exception : config::OnException::Continue) {
      case config::OnException::Continue:
        return;
      case config::OnException::Crash:
        launcher_.threw(component, threw);  // the main thread will not do it
        crash_report::die(fmt::format("callback '{}' of component '{}' threw: {}", callback, component, what));
      case config::OnException::Restart:
        break;
    }
    const std::int64_t now = steady_now();
    const std::lock_guard lock(mutex_);
    Restarts& r = restarts_[component];
    if (r.due != 0) return;
    while (!r.times.empty() && now - r.times.front() > process_.restart.window.count()) r.times.pop_front();
    if (std::cmp_greater_equal(r.times.size(), process_.restart.limit)) {
      launcher_.threw(component, threw);
      crash_report::die(
          fmt::format("component '{}' was restarted {} times within {} s, and its callback '{}' throws "
                      "again: {}",
                      component, r.times.size(), process_.restart.window.count() / 1'000'000'000, callback, what));
    }
    // At once the first time, then at growing distances: it may fail in its first callback.
    std::int64_t distance = process_.restart.backoff.count();
    for (std::size_t i = 1; i < r.times.size(); ++i)
      distance = std::min(distance * 2, process_.restart.backoff_max.count());
    r.due = r.times.empty() ? now : std::max(now, r.times.back() + distance);
    ::eventfd_write(wake_.get(), 1);
  }

  /// When the next restart is due; 0: none is asked for.
  std::int64_t restart_what_is_due() {
    for (;;) {
      std::string component;
      std::int64_t next = 0;
      {
        const std::lock_guard lock(mutex_);
        for (auto& [name, r] : restarts_) {
          if (r.due == 0) continue;
          if (r.due <= steady_now())
            component = name;
          else
            next = next == 0 ? r.due : std::min(next, r.due);
        }
      }
      if (component.empty() || stopping()) return next;
      restart(component);
    }
  }

  void restart(const std::string& component) {
    const std::int64_t begun = steady_now();
    try {
      const std::lock_guard lock(changing_);
      restarting_ = component;
      by_rule_ = true;
      runtime_.restart(component, RestartCause::Failure, kPause);
    } catch (const StillRunning& e) {
      detail::log(LogLevel::Warning, fmt::format("{}; trying again", e.cause()));
      const std::lock_guard lock(mutex_);
      restarts_[component].due = steady_now() + kPause.count();
      return;
    } catch (const std::exception& e) {
      crash_report::die(fmt::format("component '{}' could not be restarted: {}", component, e.what()));
    }
    const std::int64_t now = steady_now();
    const std::lock_guard lock(mutex_);
    Restarts& r = restarts_[component];
    ++r.count;
    detail::log(LogLevel::Warning, fmt::format("{}: restarted in {:.1f} ms (restart {})", component,
                                               static_cast<double>(now - begun) / 1e6, r.count));
  }

  /// On the service's thread.
  HostAnswers::Restarted restart_for_operator(const std::string& component, std::chrono::nanoseconds within) {
    const auto wish = std::make_shared<Wish>();
    wish->component = component;
    auto done = wish->done.get_future();
    {
      const std::lock_guard lock(mutex_);
      if (stops_) throw Error(ErrorCode::Unavailable, "the process is being stopped", "");
      wishes_.push_back(wish);
    }
    ::eventfd_write(wake_.get(), 1);
    if (done.wait_for(within) != std::future_status::ready) {
      if (!wish->decided.exchange(true))
        throw Error(ErrorCode::Unavailable,
                    fmt::format("component '{}' was not restarted: its process is busy", component),
                    "cardan component stats shows which callback runs");
      if (done.wait_for(std::chrono::seconds{1}) != std::future_status::ready)
        throw Error(
            ErrorCode::Unavailable,
            fmt::format("component '{}' is being restarted, and has not come back from on_start yet", component),
            "cardan component list shows when it runs");
    }
    HostAnswers::Restarted restarted = done.get();
    restarted.sent = [wish] { wish->sent.set_value(); };
    return restarted;
  }

  /// On the main thread, which alone changes components.
  void grant_wishes() {
    for (;;) {
      std::shared_ptr<Wish> wish;
      {
        const std::lock_guard lock(mutex_);
        if (wishes_.empty()) return;
        wish = wishes_.front();
        wishes_.pop_front();
      }
      if (!wish->decided.exchange(true)) grant(*wish);
    }
  }

  void grant(Wish& wish) {
    const std::int64_t begun = steady_now();
    try {
      refuse_if_it_hangs(wish.component);
    } catch (...) {
      wish.done.set_exception(std::current_exception());
      return;
    }
    try {
      const std::lock_guard lock(changing_);
      restarting_ = wish.component;
      by_rule_ = false;
      runtime_.restart(wish.component, RestartCause::Order, kPause);
    } catch (const StillRunning&) {
      wish.done.set_exception(std::current_exception());
      return;
    } catch (const std::exception& e) {
      // The process would continue without it: a restart of the whole process, by its rule, is better.
      const std::string cause = fmt::format("component '{}' did not start again: {}", wish.component, e.what());
      wish.done.set_value({.failure = cause});
      (void)wish.sent.get_future().wait_for(std::chrono::seconds{1});  // the client gets the answer first
      crash_report::die(cause);
    }
    const double took = static_cast<double>(steady_now() - begun) / 1e6;
    std::uint64_t count = 0;
    {
      const std::lock_guard lock(mutex_);
      count = ++restarts_[wish.component].count;
    }
    detail::log(LogLevel::Warning, fmt::format("{}: restarted by an operator in {:.1f} ms", wish.component, took));
    wish.done.set_value({.took_ms = took, .restarts = count});
  }

  /// A restart waits for the callbacks of the component's groups: one that hangs would keep this process from anything
  /// else. Throws Error (InvalidArgument: no such component).
  void refuse_if_it_hangs(const std::string& component) const {
    constexpr std::int64_t kHangs = 1'000'000'000;
    const auto& all = runtime_.components();
    const auto core = std::find_if(all.begin(), all.end(), [&](const auto& c) { return c->name() == component; });
    if (core == all.end())
      throw Error(ErrorCode::InvalidArgument, fmt::format("there is no component '{}' here", component),
                  "cardan component list shows them");
    const std::int64_t now = steady_now();
    for (const detail::Group* group : (*core)->groups())
      for (const auto& doing : group->doing())
        if (doing.callback != nullptr && now - doing.since > kHangs)
          throw Error(
              ErrorCode::Unavailable,
              fmt::format(
                  "component '{}' cannot be stopped: callback '{}' of component '{}' has been running for {:.1f} s",
                  component, doing.callback->name(), doing.callback->component(),
                  static_cast<double>(now - doing.since) / 1e9),
              fmt::format("restart its process: cardan run --restart {}", process_.name));
  }

  void refuse_wishes() {
    std::deque<std::shared_ptr<Wish>> left;
    {
      const std::lock_guard lock(mutex_);
      stops_ = true;
      left.swap(wishes_);
    }
    for (const auto& wish : left)
      if (!wish->decided.exchange(true))
        wish->done.set_exception(
            std::make_exception_ptr(Error(ErrorCode::Unavailable, "the process is being stopped", "")));
  }

  const config::Configuration& configuration_;
  const config::Process& process_;
  const HostOptions& options_;
  LauncherLines& launcher_;
  std::set<std::string> refused_;
  std::mutex changing_;  ///< of the runtime's components; before mutex_
  std::mutex mutex_;
  std::map<std::string, Restarts> restarts_;
  std::map<std::string, std::uint64_t> threw_;  ///< exceptions that left callbacks, by component; with mutex_
  std::map<std::string, std::uint64_t> told_;   ///< of those, the launcher
  std::int64_t tell_ns_ = 0;                    ///< not before
  std::deque<std::shared_ptr<Wish>> wishes_;
  bool stops_ = false;
  std::string restarting_;        ///< by the main thread, which alone does it
  bool by_rule_ = false;          ///< and not by an operator
  Atomic<bool> untold_{false};    ///< exceptions since the last report to the launcher
  Atomic<bool> counting_{false};  ///< of exceptions that repeat: the main thread knows when to say how many
  detail::BoundFd wake_;
  Runtime runtime_;
  ChainNews chain_news_{runtime_, [this](const std::string& line) { launcher_.chain(line); }};
  HostAnswers answers_{runtime_, changing_, parts()};
  Watchdog watchdog_;  ///< watches to the end: a callback may hang while all stop
  std::unique_ptr<ControlService> service_;
};

void stop_at(int signal) {
  // A terminal's Ctrl-C comes to all processes, and the launcher's SIGTERM to each: a second one does not speed up the
  // end.
  struct sigaction action{};
  action.sa_handler = [](int) { request_stop(); };
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

int run_host(const config::Configuration& configuration, const std::string& process, const HostOptions& options) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what a component printed is in the log when it crashes
  LauncherLines launcher(options.ready_fd);
  try {
    const config::Process* found = configuration.process(process);
    if (found == nullptr) {
      std::vector<std::string> names;
      for (const auto& p : configuration.processes) names.push_back(p.name);
      throw Error(ErrorCode::InvalidArgument, fmt::format("the configuration has no process '{}'", process),
                  config::suggestion(process, names, "name one in the file"));
    }
    ::prctl(PR_SET_NAME, process.c_str());  // else top shows "exe"; of a long name the first 15 letters
    detail::set_program_name(process);
    std::signal(SIGPIPE, SIG_IGN);  // a missing reader of our output must not end us
    stop_at(SIGTERM);
    stop_at(SIGINT);
    for (const int fd : {options.ready_fd, options.report_fd})
      if (fd > STDERR_FILENO) ::fcntl(fd, F_SETFD, FD_CLOEXEC);  // not for what components start
    crash_report::install(process, options.report_fd);
    Host(configuration, *found, options, launcher).run();
    return 0;
  } catch (const std::exception& e) {
    std::fputs(fmt::format("cardan: error: {}: {}\n", process, e.what()).c_str(),
               stderr);  // where the launcher is gone too
    launcher.failed(e);
    return 1;
  }
}

}  // namespace cardan::host
