// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/detail/atomic.hpp"

namespace cardan::detail {

/// One request may arrive as two signals within microseconds, because `timeout`, `sudo` and shells signal the process
/// and its group. A handler that ends the process on the second signal must ignore this echo.
/// Signal handlers and any thread; never blocks.
class SignalEcho {
 public:
  static constexpr std::int64_t kWithin = 250'000'000;  ///< ns; a user does not ask twice on purpose within this time

  /// Whether a signal that arrives now (steady clock) is the echo of the one before.
  [[nodiscard]] bool is_echo(std::int64_t now_ns) noexcept {
    const std::int64_t before = asked_ns_.load(std::memory_order_relaxed);
    if (before != 0 && now_ns - before < kWithin) return true;
    asked_ns_.store(now_ns, std::memory_order_relaxed);
    return false;
  }

 private:
  Atomic<std::int64_t> asked_ns_{0};
};

}  // namespace cardan::detail
