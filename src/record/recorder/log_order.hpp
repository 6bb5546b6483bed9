// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cardan::record {

/// Keeps log times in order. Clocks that are compared again differ a little; one that is set back is another matter.
/// One thread; does not block.
class LogOrder {
 public:
  /// A time that is less by more than this is taken as it is. Nanoseconds.
  static constexpr std::uint64_t kALittle = 10'000'000;

  /// The log time of the next sample, nanoseconds: not a little before the one that was returned last.
  [[nodiscard]] std::uint64_t in_order(std::uint64_t log_time) noexcept {
    if (log_time < last_ && last_ - log_time <= kALittle) return last_;
    return last_ = log_time;
  }

 private:
  std::uint64_t last_ = 0;
};

}  // namespace cardan::record
