// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/pipeline/lidar/messages.hpp"

namespace cardan::bench::perception::lidar {

/// Chooses one of several paths that lead aside by up to 3 m: the one that is free the longest, and of those the
/// straightest. Allocates nothing.
[[nodiscard]] Plan plan(const Obstacles& obstacles) noexcept;

/// Brake or go.
struct Decision {
  bool brake = true;
  double stops_after = 0;  ///< m, at the speed of now
};
/// Brakes if the path is free for less than the way that the vehicle needs to stop.
[[nodiscard]] Decision decide(const Plan& plan) noexcept;

}  // namespace cardan::bench::perception::lidar
