// SPDX-License-Identifier: Apache-2.0
#include "cardan/runtime/host/host.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "cardan/memory/bound_fd.hpp"
#include "cardan/memory/clock.hpp"
#include "cardan/memory/error.hpp"
#include "cardan/memory/realtime.hpp"
#include "cardan/runtime/config/suggest.hpp"
#include "cardan/runtime/host/control_service.hpp"
#include "cardan/runtime/host/crash_report.hpp"
#include "cardan/runtime/host/watchdog.hpp"
#include "cardan/runtime/runtime.hpp"
#include "cardan/transport/log.hpp"
#include "cardan/transport/stop.hpp"
#include "cardan/transport/waiting.hpp"

namespace cardan::host {
namespace {

/// Restarts of one component that a rule asked for.
struct Restarts {
  std::deque<std::int64_t> times;  ///< within the window
  std::uint64_t count = 0;
  std::int64_t due = 0;  ///< when the next one may be; 0: none is asked for
};

class Host {
 public:
  Host(const config::Configuration& configuration, const config::Process& process, const HostOptions& options)
      : configuration_(configuration),
        process_(process),
        options_(options),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        runtime_(runtime_options()),
        watchdog_([](const Watchdog::Late& late) { crash_report::die_of(late.thread, late.text()); }) {}
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host() { crash_report::know(nullptr); }

  void run() {
    if (configuration_.realtime) report(realtime({.lock_memory = true}), "this process");
    for (config::Component settings : process_.components) {
      settings.library = component_library_path(settings.library, configuration_.file_of(settings));
      runtime_.add(std::move(settings));
    }
    runtime_.start();
    for (const auto& group : runtime_.groups())
      for (const RealtimeReport& worker : group->realtime_reports()) report(worker, group->options().name);
    if (configuration_.realtime && refused_.empty())
      detail::log(LogLevel::Info, "realtime: all that was asked for was granted");
    service_ = std::make_unique<ControlService>(
        runtime_, changing_, ControlService::Identity{process_.name, [this](const std::string& component) {
                                                        const std::lock_guard lock(mutex_);
                                                        const auto found = restarts_.find(component);
                                                        return found == restarts_.end() ? 0 : found->second.count;
                                                      }});
    if (options_.ready_fd >= 0) {
      if (::write(options_.ready_fd, "ready\n", 6) != 6) detail::log(LogLevel::Warning, "nobody waits for 'ready'");
      ::close(options_.ready_fd);
    }
    while (!stopping()) {
      const std::int64_t next = restart_what_is_due();
      if (stopping()) break;
      std::array<detail::Foreign, 1> wake{{{wake_.get()}}};
      detail::sleep_on({}, wake, next, false);
      eventfd_t count = 0;
      ::eventfd_read(wake_.get(), &count);
    }
    service_.reset();
    runtime_.stop();
  }

 private:
  RuntimeOptions runtime_options() {
    RuntimeOptions options;
    options.domain = configuration_.domain;
    options.groups = process_.groups;
    options.topics = configuration_.topics;
    options.cycles = true;
    options.await_recorders = std::chrono::milliseconds{500};
    options.on_failure = [this](const std::string& component, const std::string& callback, const std::string& what) {
      failed(component, callback, what);
    };
    options.on_change = [this](bool declared) {
      crash_report::know(declared ? &runtime_ : nullptr);
      if (declared) watchdog_.watch(runtime_);
    };
    return options;
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
    const config::Component* settings = process_.component(component);
    switch (settings != nullptr ? settings->on_exception : config::OnException::Continue) {
      case config::OnException::Continue:
        return;
      case config::OnException::Crash:
        crash_report::die(fmt::format("callback '{}' of component '{}' threw: {}", callback, component, what));
      case config::OnException::Restart:
        break;
    }
    const std::int64_t now = steady_now();
    const std::lock_guard lock(mutex_);
    Restarts& r = restarts_[component];
    if (r.due != 0) return;
    while (!r.times.empty() && now - r.times.front() > process_.restart.window.count()) r.times.pop_front();
    if (std::cmp_greater_equal(r.times.size(), process_.restart.limit))
      crash_report::die(
          fmt::format("component '{}' was restarted {} times within {} s, and its callback '{}' throws "
                      "again: {}",
                      component, r.times.size(), process_.restart.window.count() / 1'000'000'000, callback, what));
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
      runtime_.restart(component);
    } catch (const std::exception& e) {
      crash_report::die(fmt::format("component '{}' was to be restarted: {}", component, e.what()));
    }
    const std::int64_t now = steady_now();
    const std::lock_guard lock(mutex_);
    Restarts& r = restarts_[component];
    r.times.push_back(now);
    r.due = 0;
    ++r.count;
    detail::log(LogLevel::Warning, fmt::format("{}: restarted in {:.1f} ms (restart {})", component,
                                               static_cast<double>(now - begun) / 1e6, r.count));
  }

  const config::Configuration& configuration_;
  const config::Process& process_;
  const HostOptions& options_;
  std::set<std::string> refused_;
  std::mutex changing_;  ///< of the runtime's components; before mutex_
  std::mutex mutex_;
  std::map<std::string, Restarts> restarts_;
  BoundFd wake_;
  Runtime runtime_;
  Watchdog watchdog_;  ///< watches to the end: a callback may hang while all stop
  std::unique_ptr<ControlService> service_;
};

void stop_at(int signal) {
  // A terminal's Ctrl-C comes to all processes, and the launcher's SIGTERM to each: one more is no reason to hurry.
  struct sigaction action{};
  action.sa_handler = [](int) { request_stop(); };
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

int run_host(const config::Configuration& configuration, const std::string& process, const HostOptions& options) {
  try {
    const config::Process* found = configuration.process(process);
    if (found == nullptr) {
      std::vector<std::string> names;
      for (const auto& p : configuration.processes) names.push_back(p.name);
      throw Error(ErrorCode::InvalidArgument, fmt::format("the configuration has no process '{}'", process),
                  config::suggestion(process, names, "name one in the file"));
    }
    std::signal(SIGPIPE, SIG_IGN);  // nobody reads what we print: no reason to end
    stop_at(SIGTERM);
    stop_at(SIGINT);
    for (const int fd : {options.ready_fd, options.report_fd})
      if (fd > STDERR_FILENO) ::fcntl(fd, F_SETFD, FD_CLOEXEC);  // not for what components start
    crash_report::install(process, options.report_fd);
    Host(configuration, *found, options).run();
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "cardan: error: {}: {}\n", process, e.what());
    return 1;
  }
}

}  // namespace cardan::host
