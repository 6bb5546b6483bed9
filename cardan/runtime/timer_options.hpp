// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cardan/base/duration.hpp"

namespace cardan {

/// Handling of a timer's periods that were over before it could run.
enum class Overrun : std::uint8_t {
  Skip,     ///< leaves them out: the next call is at the next point of the grid. For control loops.
  CatchUp,  ///< calls once for each: the number of calls is right, their times are not. For simulations and counters.
};

/// Options of a component's timer.
struct TimerOptions {
  Overrun overrun = Overrun::Skip;
  /// When the first call is due, after the start. 0: one period.
  std::chrono::nanoseconds delay{0};
  /// Name in statistics and the configuration's `callbacks`; empty: "timer", "timer2", …
  std::string name{};
};

}  // namespace cardan
