// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace cardan::bench::recording {

/// A drive of SPEED's Fig. 11. How many objects are around decides what a frame costs.
struct Scene {
  char name = 'A';
  double seconds = 0;   ///< of the paper's recording
  double objects = 0;   ///< on average
  double swing = 0;     ///< by which their number goes up and down in `period_s`
  double period_s = 0;  ///< of one swing
};

/// A: a commercial alley with pedestrians and bicycles; B: a right turn and a traffic light on a quiet road; C: a
/// residential area with parked cars. The lengths are the paper's, the numbers ours: its pictures are not public.
inline constexpr std::array<Scene, 3> kScenes{
    {{.name = 'A', .seconds = 106, .objects = 24, .swing = 4, .period_s = 9},
     {.name = 'B', .seconds = 48, .objects = 8, .swing = 2, .period_s = 14},
     {.name = 'C', .seconds = 66, .objects = 15, .swing = 3, .period_s = 11}}};

/// Objects around in the n-th frame: the same in each run. Any thread; never blocks.
[[nodiscard]] std::uint32_t objects_at(const Scene& scene, std::uint64_t frame, double rate_hz) noexcept;

}  // namespace cardan::bench::recording
