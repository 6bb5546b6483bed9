// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cardan::apps {

/// The `ros2msg` text of a standard type of ROS 2 Humble ("sensor_msgs/msg/Image"), or of one of Cardan's own, with the
/// types that it uses: for recordings that do not define what they hold. Empty: it is neither. Any thread; no blocking.
[[nodiscard]] std::string ros2_definition_of(const std::string& type_name);

}  // namespace cardan::apps
