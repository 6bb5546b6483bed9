// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/bridge/rules.hpp"

namespace cardan::bridge::zenoh {

/// The rules as one line of JSON for cardan-zenoh: the form of bridge.schema.json, every list written as a list,
/// without the settings of other bridges. Any thread; does not block.
[[nodiscard]] std::string rules_json(const Rules& rules);

}  // namespace cardan::bridge::zenoh
