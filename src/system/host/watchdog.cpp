// SPDX-License-Identifier: Apache-2.0
#include "src/system/host/watchdog.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/realtime.hpp"
#include "src/runtime/runtime.hpp"

namespace cardan::host {

std::string Watchdog::Late::text() const {
  if (limit.count() == 0)
    return fmt::format("callback '{}' of component '{}' has been running for {:.1f} s", callback, component,
                       static_cast<double>(running.count()) / 1e9);
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
  told_.clear();
  bool strict = false;
  for (const auto& core : runtime.components())
    for (const auto& callback : core->callbacks()) {
      const config::Callback* own = core->settings().callback(callback->name());
      const auto limit = own != nullptr && own->watchdog ? *own->watchdog : core->settings().watchdog;
      const bool limited = on_late_ && limit.count() > 0;
      strict = strict || limited;
      if (limited || on_hang_)
        limits_[callback.get()] = {core->name(), callback->name(), limited ? limit.count() : hangs_.count(), !limited};
    }
  for (const auto& group : runtime.groups()) {
    groups_.push_back(group.get());
    // An ordinary thread reports hangs: only the watchdog that ends processes must run before all others.
    if (const int priority = group->options().realtime.priority; priority > 0 && strict)
      priority_ = std::max(priority_, std::min(99, priority + 1));
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

void Watchdog::forget() {
  const std::lock_guard lock(mutex_);
  groups_.clear();
  limits_.clear();
  told_.clear();
}

std::optional<Watchdog::Late> Watchdog::longest() const {
  std::optional<Late> found;
  const std::lock_guard lock(mutex_);
  const std::int64_t now = steady_now();
  for (const detail::Group* group : groups_)
    for (const auto& doing : group->doing()) {
      const auto known = limits_.find(doing.callback);
      const std::chrono::nanoseconds running{now - doing.since};
      if (known == limits_.end() || (found && running <= found->running)) continue;
      const Limit& limit = known->second;
      found = Late{limit.component, limit.callback, std::chrono::nanoseconds{limit.hangs ? 0 : limit.ns}, running,
                   doing.thread};
    }
  return found;
}

/// Tells what is late now; when to look again.
std::int64_t Watchdog::look(std::int64_t now) {
  constexpr std::int64_t kOnce = std::numeric_limits<std::int64_t>::max();
  std::int64_t next = kOnce;
  // Calls that start from now on cannot be late before the shortest limit is over.
  for (const auto& [callback, limit] : limits_) next = std::min(next, now + limit.ns);
  std::map<Call, std::int64_t> still;
  for (const detail::Group* group : groups_)
    for (const auto& doing : group->doing()) {
      const auto found = limits_.find(doing.callback);
      if (found == limits_.end()) continue;
      const Limit& limit = found->second;
      const Call call{doing.callback, doing.since};
      const auto told = told_.find(call);
      std::int64_t due = told == told_.end() ? doing.since + limit.ns + 1 : told->second;
      if (now >= due) {
        const Late late{limit.component, limit.callback, std::chrono::nanoseconds{limit.hangs ? 0 : limit.ns},
                        std::chrono::nanoseconds{now - doing.since}, doing.thread};
        due = limit.hangs ? doing.since + 2 * (now - doing.since) : kOnce;
        (limit.hangs ? on_hang_ : on_late_)(late);
        still[call] = due;
      } else if (told != told_.end()) {
        still[call] = due;
      }
      next = std::min(next, due);
    }
  told_ = std::move(still);
  return next;
}

void Watchdog::run() noexcept {
  std::unique_lock lock(mutex_);
  if (priority_ > 0) realtime({.priority = priority_});  // what it refuses was refused to the workers too
  while (!ending_) {
    const std::int64_t next = look(steady_now());
    if (next == std::numeric_limits<std::int64_t>::max())
      changed_.wait(lock);
    else
      changed_.wait_until(lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(next)));
  }
}

}  // namespace cardan::host
