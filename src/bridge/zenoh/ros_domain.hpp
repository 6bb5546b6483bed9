// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/bridge/rules.hpp"

namespace cardan::bridge::zenoh {

/// Of form "rmw": sets the domain that `variable` ($ROS_DOMAIN_ID, may be empty) names, if the rules name none. Throws
/// Error (InvalidArgument): the domain or the node's name is invalid. Any thread; does not block.
void choose_ros_domain(ZenohRules& rules, const std::string& variable);

/// The network's name in the loop guard: the rules', or "zenoh", or of form "rmw" "rmw_zenoh:<domain>", because other
/// domains are other networks. Any thread; does not block.
[[nodiscard]] std::string network_name(const Rules& rules);

}  // namespace cardan::bridge::zenoh
