// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/pipeline/graph.hpp"
#include "bench/pipeline/run.hpp"

namespace cardan::bench::perception::lidar {

/// The figures of what the stages left in the graph's areas: link i has the stamps from stage i to stage i + 1.
[[nodiscard]] PipelineRun evaluate_lidar(const Graph& graph);

inline constexpr double kMphInMps = 0.44704;
/// By how much a vehicle brakes later that decides `later_ms` later: SIM's d = v · Δt. In m.
[[nodiscard]] constexpr double braking_distance(double speed_mph, double later_ms) noexcept {
  return speed_mph * kMphInMps * later_ms / 1000;
}

}  // namespace cardan::bench::perception::lidar
