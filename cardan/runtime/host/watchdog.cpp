// SPDX-License-Identifier: Apache-2.0
#include "cardan/runtime/host/watchdog.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <set>

#include "cardan/memory/clock.hpp"
#include "cardan/memory/realtime.hpp"
#include "cardan/runtime/runtime.hpp"

namespace cardan::host {

std::string Watchdog::Late::text() const {
  const auto ms = [](std::chrono::nanoseconds ns) { return static_cast<double>(ns.count()) / 1e6; };
  return fmt::format("callback '{}' of component '{}' has been running for {:.1f} ms, its watchdog allows {:.1f} ms",
                     callback, component, ms(running), ms(limit));
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::watch(const Runtime& runtime) {
  const std::lock_guard lock(mutex_);
  groups_.clear();
  limits_.clear();
  for (const auto& group : runtime.groups()) {
    groups_.push_back(group.get());
    if (const int priority = group->options().realtime.priority; priority > 0)
      priority_ = std::max(priority_, std::min(99, priority + 1));
  }
  for (const auto& core : runtime.components())
    for (const auto& callback : core->callbacks()) {
      const config::Callback* own = core->settings().callback(callback->name());
      const auto limit = own != nullptr && own->watchdog ? *own->watchdog : core->settings().watchdog;
      if (limit.count() > 0) limits_[callback.get()] = {core->name(), callback->name(), limit.count()};
    }
  changed_.notify_all();
  if (limits_.empty() || thread_.joinable()) return;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_setname_np(thread_.native_handle(), "cardan-watchdog");
}

void Watchdog::run() noexcept {
  std::unique_lock lock(mutex_);
  if (priority_ > 0) realtime({.priority = priority_});             // what it refuses was refused to the workers too
  std::set<std::pair<const detail::Callback*, std::int64_t>> told;  ///< and since when it ran
  while (!ending_) {
    const std::int64_t now = steady_now();
    std::int64_t next = std::numeric_limits<std::int64_t>::max();
    // What begins from now on cannot be late before the shortest limit is over.
    for (const auto& [callback, limit] : limits_) next = std::min(next, now + limit.ns);
    for (const detail::Group* group : groups_)
      for (const auto& doing : group->doing()) {
        const auto found = limits_.find(doing.callback);
        if (found == limits_.end()) continue;
        const Limit& limit = found->second;
        if (now - doing.since <= limit.ns) {
          next = std::min(next, doing.since + limit.ns + 1);
        } else if (told.emplace(doing.callback, doing.since).second) {
          const Late late{limit.component, limit.callback, std::chrono::nanoseconds(limit.ns),
                          std::chrono::nanoseconds(now - doing.since), doing.thread};
          on_late_(late);
        }
      }
    if (next == std::numeric_limits<std::int64_t>::max())
      changed_.wait(lock);
    else
      changed_.wait_until(lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(next)));
  }
}

}  // namespace cardan::host
