// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cardan::apps {

/// Why a name cannot be that of a folder, a CMake project, a package of messages and a component; empty: it can.
[[nodiscard]] std::string name_refusal(std::string_view name);
/// A name that can, as near as possible: "LaneKeeper" → "lane_keeper".
[[nodiscard]] std::string name_like(std::string_view name);
/// "lane_keeper" → "LaneKeeper".
[[nodiscard]] std::string class_name_of(std::string_view name);

}  // namespace cardan::apps
