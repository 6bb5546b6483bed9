// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/clock.hpp"

namespace cardan::bridge {

/// By how much the wall clock is ahead of the steady one, to about a microsecond: clients find a message by its time.
/// Any thread. Does not block.
[[nodiscard]] inline std::int64_t wall_ahead() noexcept {
  constexpr std::int64_t kQuick = 2'000;  // ns; a thread that was interrupted between the two reads them again
  constexpr int kTries = 4;
  for (int i = 1;; ++i) {
    const std::int64_t before = steady_now(), wall = wall_now(), after = steady_now();
    if (after - before <= kQuick || i == kTries) return wall - before - (after - before) / 2;
  }
}

}  // namespace cardan::bridge
