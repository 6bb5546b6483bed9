// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "src/system/host/watchdog.hpp"

namespace cardan::replay {

struct ReplayGuardOptions {
  /// How long what runs may take to come back once the end was asked for.
  std::chrono::nanoseconds grace = std::chrono::seconds{5};
  /// After this time a callback that has run for `grace` is not waited for any more.
  std::optional<std::chrono::nanoseconds> limit{};
  /// Ends the process, and does not come back. `what`: what did not come back, and why that is the end now.
  std::function<void(const host::Watchdog::Late& late, const std::string& what)> give_up{};
};

/// Looks after `cardan run --from`, whose one thread runs the components, from its own thread: names what does not
/// come back after 2, 4, 8 … s, and gives up if the end is requested and it still does not. Until stopping() or
/// the limit it changes nothing. begins() and watch() are for the thread that runs the components.
class ReplayGuard {
 public:
  explicit ReplayGuard(ReplayGuardOptions options);
  ReplayGuard(const ReplayGuard&) = delete;
  ReplayGuard& operator=(const ReplayGuard&) = delete;
  /// The components have ended.
  ~ReplayGuard();

  /// on_start() of this component.
  void begins(const std::string& component);
  /// The callbacks of this runtime; null: they have ended, and on_stop() of the components may run.
  void watch(const Runtime* runtime);

 private:
  /// The code that runs outside of callbacks, and since when.
  struct Phase {
    std::string component{}, what{};
    std::int64_t since = 0;
    std::int64_t tell_at = 0;
  };
  void enter(Phase phase);
  void serve() noexcept;
  void look(std::int64_t now);
  void acknowledge(std::int64_t now);
  [[nodiscard]] host::Watchdog::Late running(std::int64_t now) const;
  static std::string text(const host::Watchdog::Late& late);

  ReplayGuardOptions options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false, acknowledged_ = false;
  Phase phase_{};
  std::int64_t begun_, asked_ = 0;
  host::Watchdog watchdog_;
  std::thread thread_;
};

}  // namespace cardan::replay
