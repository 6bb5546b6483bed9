// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace cardan::record::schedule {

inline constexpr std::int64_t kMicrosecond = 1'000;
inline constexpr std::int64_t kMillisecond = 1'000'000;

/// Mean of a time that changes slowly, and how far from it the values lie: moving averages, the way TCP keeps its round
/// trip (RFC 6298), which at the beginning are plain ones. Values below 2^62.
struct Estimate {
  static constexpr std::int64_t kMemory = 8;  ///< the newest value has this share of the average
  std::int64_t mean = 0;
  std::int64_t deviation = 0;
  std::int64_t count = 0;  ///< of values, at most kMemory

  void add(std::int64_t value) noexcept {
    count = std::min(count + 1, kMemory);
    if (count == 1) {
      mean = value;
      return;
    }
    const std::int64_t distance = value - mean;
    mean += distance / count;
    deviation += ((distance < 0 ? -distance : distance) - deviation) / count;
  }
};

}  // namespace cardan::record::schedule
