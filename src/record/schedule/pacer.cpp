// SPDX-License-Identifier: Apache-2.0
#include "src/record/schedule/pacer.hpp"

#include <algorithm>
#include <cmath>

#include "src/record/schedule/estimate.hpp"

namespace cardan::record::schedule {

Pacer::Step Pacer::step(double rate, std::uint64_t waiting, std::int64_t now) noexcept {
  // A budget that was not used in a while is lost: it would be a burst.
  constexpr auto kKept = static_cast<double>(10 * kMillisecond);
  // A debt is one for a frame, not for whatever happened before the rate changed.
  constexpr auto kOwed = static_cast<double>(100 * kMillisecond);
  const double passed = std::clamp(static_cast<double>(now - last_ns_), 0.0, kKept);
  last_ns_ = now;
  credit_ = std::clamp(credit_ + rate * passed, -rate * kOwed, std::max(least_, rate * kKept));
  const double needed = std::min(least_, static_cast<double>(waiting));
  if (credit_ >= needed) {
    const double after = std::max(1.0, std::floor(credit_));
    return {static_cast<std::uint64_t>(after), now + static_cast<std::int64_t>(std::min(kOwed, needed / rate))};
  }
  return {0, now + static_cast<std::int64_t>(std::min(kOwed, (needed - credit_) / rate))};
}

void Pacer::issued(std::uint64_t bytes) noexcept { credit_ -= static_cast<double>(bytes); }

}  // namespace cardan::record::schedule
