// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace cardan::bridge::foxglove {

/// This many units a second. Unused ones are kept for one second; overdrawn ones are waited for.
/// Thread safety: none. No function blocks. Times are of the steady clock, in ns.
class Budget {
 public:
  explicit Budget(std::int64_t units_of_a_second) noexcept : rate_(static_cast<double>(units_of_a_second) / kSecond) {}

  /// Not more than a second's; zero or less: wait.
  [[nodiscard]] std::int64_t left(std::int64_t now) const noexcept {
    const std::int64_t ns = kSecond - std::max<std::int64_t>(paid_until_ - now, 0);
    return static_cast<std::int64_t>(static_cast<double>(ns) * rate_);
  }
  void spend(std::int64_t units, std::int64_t now) noexcept {
    const double ns = std::min(static_cast<double>(units) / rate_, static_cast<double>(kLongest));
    paid_until_ = std::min(std::max(paid_until_, now) + static_cast<std::int64_t>(ns), now + kLongest);
  }
  /// Whether it is as if it were new.
  [[nodiscard]] bool is_full(std::int64_t now) const noexcept { return paid_until_ <= now; }

 private:
  static constexpr std::int64_t kSecond = 1'000'000'000;
  static constexpr std::int64_t kLongest = 30 * kSecond;  ///< nobody waits longer
  double rate_;                                           ///< units of one ns
  std::int64_t paid_until_ = 0;
};

}  // namespace cardan::bridge::foxglove
