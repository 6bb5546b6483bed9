// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/pipeline/stages.hpp"

namespace cardan::bench::perception {

/// Plays the stage of this role until the camera's last frame has gone through. Throws cardan::Error. Blocks.
void play(const Area& stages, std::uint32_t role, const StageInputs& inputs);

}  // namespace cardan::bench::perception
