// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "cardan/clock.hpp"
#include "cardan/detail/duration.hpp"

namespace cardan::detail {

/// The time `timeout` from now, steady clock, nanoseconds. For a time-out that is longer than the clock can say, the
/// latest time. Any thread; never blocks.
inline std::int64_t deadline_after(std::chrono::nanoseconds timeout) noexcept {
  constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max();
  const std::int64_t now = steady_now();
  return timeout.count() > kLatest - now ? kLatest : now + timeout.count();
}

}  // namespace cardan::detail
