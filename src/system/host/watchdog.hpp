// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "src/runtime/executor/group.hpp"

namespace cardan {
class Runtime;
}

namespace cardan::host {

/// Finds callbacks that run longer than their configuration's `watchdog`, and names those without one that hang. Its
/// thread sleeps until the first of those that run could be too late, and about once in the shortest limit while none
/// runs. It reads what workers note anyway: callbacks pay nothing.
class Watchdog {
 public:
  struct Late {
    std::string component, callback;
    std::chrono::nanoseconds limit;    ///< 0: it has none
    std::chrono::nanoseconds running;  ///< for how long so far
    pid_t thread;
    /// For people: which callback, since when, and the limit.
    [[nodiscard]] std::string text() const;
  };
  /// Called on the watchdog's thread, with its mutex.
  using OnLate = std::function<void(const Late&)>;
  /// After this time a callback without a limit hangs.
  static constexpr std::chrono::nanoseconds kHangs = std::chrono::seconds{2};

  /// `on_late`: once for each callback that is late; empty: limits do not count, and all callbacks are as those without
  /// one. `on_hang`: of a callback without a limit after `hangs`, and again after twice, four times … as long.
  explicit Watchdog(OnLate on_late, OnLate on_hang = {}, std::chrono::nanoseconds hangs = kHangs)
      : on_late_(std::move(on_late)), on_hang_(std::move(on_hang)), hangs_(hangs) {}
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  /// Watches the callbacks that the runtime has now, instead of those before. The thread starts with the first one that
  /// has a limit, or with `on_hang`; without either it does nothing. While no component is added or restarted; any
  /// thread. The runtime's groups have to live as long as they are watched.
  void watch(const Runtime& runtime);
  /// Watches nothing any more. Any thread.
  void forget();
  /// Of the watched callbacks that run right now the one that began first. Any thread.
  [[nodiscard]] std::optional<Late> longest() const;
  [[nodiscard]] bool has_thread() const noexcept { return thread_.joinable(); }

 private:
  struct Limit {
    std::string component, callback;
    std::int64_t ns;
    bool hangs;  ///< of a callback without a limit
  };
  using Call = std::pair<const detail::Callback*, std::int64_t>;  ///< and since when it runs
  void run() noexcept;
  [[nodiscard]] std::int64_t look(std::int64_t now);

  OnLate on_late_, on_hang_;
  std::chrono::nanoseconds hangs_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  int priority_ = 0;  ///< above all that it watches
  std::vector<const detail::Group*> groups_;
  std::map<const detail::Callback*, Limit> limits_;
  std::map<Call, std::int64_t> told_;  ///< and when to tell again
  std::thread thread_;
};

}  // namespace cardan::host
