// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorded_clock.hpp"

#include <ctime>

#include "cardan/clock.hpp"

namespace cardan::record {

std::int64_t wall_clock_ahead() noexcept {
  timespec wall{};
  const std::int64_t before = steady_now();
  ::clock_gettime(CLOCK_REALTIME, &wall);
  const std::int64_t after = steady_now();
  return wall.tv_sec * 1'000'000'000 + wall.tv_nsec - (before + (after - before) / 2);
}

}  // namespace cardan::record
