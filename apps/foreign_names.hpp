// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cardan::apps {

/// The replacement for a subcommand that ROS 2, ROS 1 or the command `mcap` has and `cardan` has not: "`cardan
/// component list` lists what runs". `group`: what was written before it ("bag"; empty: nothing). Empty: no idea.
[[nodiscard]] std::string foreign_name(std::string_view group, std::string_view word);

}  // namespace cardan::apps
