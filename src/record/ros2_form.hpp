// SPDX-License-Identifier: Apache-2.0
// Data that ROS 2's own tools look for in addition to the messages of a recording. Any thread; nothing blocks.
#pragma once

#include <cstdint>
#include <string>

namespace cardan::record {

/// Keys in the metadata of a channel, as rosbag2 writes them.
inline constexpr const char* kQosKey = "offered_qos_profiles";
inline constexpr const char* kRosTypeHashKey = "topic_type_hash";

/// The hash of a type by which ROS 2 tells two descriptions of one name apart (REP-2016): "RIHS01_" and 64 hexadecimal
/// digits. `schema`: its ros2msg text, with the types that it uses. Empty: the text is invalid, or has a name that ROS
/// 2 does not allow.
[[nodiscard]] std::string ros_type_hash(const std::string& type_name, const std::string& schema);

/// The QoS that a publisher of such a depth offers, in the words of rosbag2 (YAML, with the numbers of Humble; newer
/// releases read those too): the last `depth` messages, also for late subscribers, and without loss for a subscriber
/// that keeps up.
[[nodiscard]] std::string offered_qos(std::uint32_t depth);

}  // namespace cardan::record
