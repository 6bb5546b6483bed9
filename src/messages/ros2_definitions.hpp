// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cardan {

/// The `ros2msg` text of a type of which only the name is known ("sensor_msgs/msg/Image"), with the types that it uses:
/// of Cardan's own message of that name, else of the standard type of ROS 2 Humble. Nothing: the name is unknown here.
/// std_msgs/Empty has an empty text. Any thread; no blocking.
[[nodiscard]] std::optional<std::string> known_definition(const std::string& type_name);

/// "sensor_msgs/msg/Image" → "sensor_msgs/Image"
[[nodiscard]] std::string short_ros2_name(const std::string& name);
/// The fields of such a standard type ("sensor_msgs/Image"), without the types that it uses. Without data(): the
/// type is not a standard one; std_msgs/Empty has no fields.
[[nodiscard]] std::string_view standard_ros2_fields(const std::string& short_name);
/// The names of all of these ("sensor_msgs/Image"), sorted.
[[nodiscard]] std::vector<std::string_view> standard_ros2_names();

}  // namespace cardan
