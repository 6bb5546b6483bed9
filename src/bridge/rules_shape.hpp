// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "src/config/shape.hpp"

namespace cardan::bridge {

/// The keys of a bridge's file: the table that the reader goes by. scripts/shape_tables.py makes it from
/// bridge.schema.json.
extern const config::Shape kRulesShape;

// In the order of the enumerations.
inline constexpr std::array<std::string_view, 4> kAccesses{"owner", "group", "everyone", "policy"};
inline constexpr std::array<std::string_view, 4> kDiscoveries{"localhost", "subnet", "off", "system"};

inline constexpr int kMostRosDomain = 232;

// Of Zenoh.
inline constexpr std::array<std::string_view, 3> kForms{"plain", "cardan", "rmw"};
inline constexpr std::array<std::string_view, 3> kModes{"router", "peer", "client"};
inline constexpr std::array<std::string_view, 7> kPriorities{
    "real_time", "interactive_high", "interactive_low", "data_high", "data", "data_low", "background"};
inline constexpr std::array<std::string_view, 2> kCongestions{"drop", "block"};

}  // namespace cardan::bridge
