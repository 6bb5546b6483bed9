// SPDX-License-Identifier: Apache-2.0
// The LiDAR's pipeline, as in SIM (IV-F): preprocessing, localization by NDT, perception, planning, decision, one after
// the other.
#pragma once

#include <cstdint>

#include "bench/pipeline/graph.hpp"

namespace cardan::bench::perception::lidar {

enum class Stage : std::uint32_t { Lidar, Preprocessing, Localization, Perception, Planning, Decision };
inline constexpr std::uint32_t kStageCount = 6;
constexpr std::uint32_t role_of(Stage stage) { return static_cast<std::uint32_t>(stage); }
/// The place of the link that a stage reads is the one before its own; of that which it writes, its own.
[[nodiscard]] const Chain& lidar_chain();

}  // namespace cardan::bench::perception::lidar
