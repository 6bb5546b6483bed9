// SPDX-License-Identifier: Apache-2.0
// ROS 2's names and those that it uses on DDS. Any thread; nothing blocks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cardan::bridge::dds {

/// Whether ROS 2 allows it as a topic's full name: "/camera/front".
[[nodiscard]] bool is_ros_topic(std::string_view name) noexcept;

/// "/camera/front" → "rt/camera/front". Empty: not a ROS 2 name.
[[nodiscard]] std::optional<std::string> dds_topic_of(std::string_view ros);
/// "rt/camera/front" → "/camera/front". Empty: not a topic of ROS 2 (a service, or plain DDS).
[[nodiscard]] std::optional<std::string> ros_topic_of(std::string_view dds);
/// "rr/add_two_intsReply" → "/add_two_ints", the service whose replies these are. Empty: not such a name.
[[nodiscard]] std::optional<std::string> service_of_replies(std::string_view dds);

/// "sensor_msgs/msg/Image" → "sensor_msgs::msg::dds_::Image_". Empty: not such a name.
[[nodiscard]] std::optional<std::string> dds_type_of(std::string_view ros);
/// "sensor_msgs::msg::dds_::Image_" → "sensor_msgs/msg/Image". Empty: not such a name.
[[nodiscard]] std::optional<std::string> ros_type_of(std::string_view dds);

/// The value of `key` in a QoS's user data, "enclave=/;typehash=RIHS01_…;". Empty: it is not there.
[[nodiscard]] std::string value_in(std::string_view user_data, std::string_view key);

}  // namespace cardan::bridge::dds
