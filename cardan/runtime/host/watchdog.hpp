// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cardan/runtime/group.hpp"

namespace cardan {
class Runtime;
}

namespace cardan::host {

/// Finds callbacks that run longer than their configuration's `watchdog`. Its thread sleeps until the first of those
/// that run could be too late, and about once in the shortest limit while none runs.
class Watchdog {
 public:
  struct Late {
    std::string component, callback;
    std::chrono::nanoseconds limit;
    std::chrono::nanoseconds running;  ///< for how long so far
    pid_t thread;
    /// For people: who, since when, and the limit.
    [[nodiscard]] std::string text() const;
  };
  /// Called on the watchdog's thread, once for each callback that is late.
  using OnLate = std::function<void(const Late&)>;

  explicit Watchdog(OnLate on_late) : on_late_(std::move(on_late)) {}
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  /// Watches the callbacks that the runtime has now, instead of those before. The thread starts with the first one that
  /// has a limit; without, there is none. While no component is added or restarted; any thread. The runtime's groups
  /// have to live as long as they are watched.
  void watch(const Runtime& runtime);
  [[nodiscard]] bool has_thread() const noexcept { return thread_.joinable(); }

 private:
  struct Limit {
    std::string component, callback;
    std::int64_t ns;
  };
  void run() noexcept;

  OnLate on_late_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  int priority_ = 0;  ///< above all that it watches
  std::vector<const detail::Group*> groups_;
  std::map<const detail::Callback*, Limit> limits_;
  std::thread thread_;
};

}  // namespace cardan::host
