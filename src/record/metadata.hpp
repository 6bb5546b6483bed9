// SPDX-License-Identifier: Apache-2.0
// The metadata of a recording: of a channel, for players and for ROS 2's own tools, and of the
// clock that stamped the samples. Any thread; nothing blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cardan/mcap/records.hpp"

namespace cardan::record {

/// In a channel's metadata: message_traits<T>::type_hash() of the published type, as 16 hexadecimal digits. It and the
/// schema give the layout in memory; the schema alone does not.
inline constexpr const char* kTypeHashKey = "cardan.type_hash";
[[nodiscard]] std::string type_hash_text(std::uint64_t hash);
/// Empty: it is missing, or not such a number.
[[nodiscard]] std::optional<std::uint64_t> type_hash_of(const mcap::Channel& channel);

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

/// In the metadata record "cardan": nanoseconds to add to a steady stamp to have the wall clock's, in decimal.
inline constexpr std::string_view kCardanMetadata = "cardan";
inline constexpr std::string_view kWallClockAheadKey = "wall_clock_ahead_ns";

/// The same of this computer now. Any thread; never blocks.
[[nodiscard]] std::int64_t wall_clock_ahead() noexcept;

}  // namespace cardan::record
