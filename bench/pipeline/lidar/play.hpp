// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/pipeline/stages.hpp"

namespace cardan::bench::perception::lidar {

/// Opens the source once. Throws cardan::Error: it cannot be used.
[[nodiscard]] LookedAt look(const StageInputs& inputs);

/// Plays the stage of this role until the LiDAR's last scan has gone through. Throws cardan::Error. Blocks.
void play(const Area& stages, std::uint32_t role, const StageInputs& inputs);

}  // namespace cardan::bench::perception::lidar
