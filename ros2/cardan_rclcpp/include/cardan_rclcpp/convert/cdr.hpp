// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "cardan/cdr.hpp"
#include "cardan_rclcpp/convert.hpp"
#include "rclcpp/serialization.hpp"
#include "rclcpp/serialized_message.hpp"

// Conversions by way of the wire form: for messages of your own and of packages that cardan_rclcpp does not depend on
// (vision_msgs, can_msgs). One copy more than a dedicated conversion, and no line of code for each field.

namespace cardan::ros {

/// A RosType that is converted by way of CDR. Both types must have the same ROS definition.
/// `template <> struct cardan::ros::RosType<cardan::CanFrame> : cardan::ros::ByCdr<cardan::CanFrame,
/// can_msgs::msg::Frame> {};`
template <class T, class Ros>
struct ByCdr {
  using type = Ros;

  static void to(const T& from, type& to) {
    CdrFrame frame;
    frame_cdr(from, frame);
    rclcpp::SerializedMessage serialized(frame.size());
    rcl_serialized_message_t& raw = serialized.get_rcl_serialized_message();
    std::uint8_t* at = raw.buffer;
    for (const std::span<const std::byte> part :
         {std::span<const std::byte>(frame.prefix), frame.payload, std::span<const std::byte>(frame.suffix)}) {
      if (!part.empty()) std::memcpy(at, part.data(), part.size());
      at += part.size();
    }
    raw.buffer_length = frame.size();
    rclcpp::Serialization<type>().deserialize_message(&serialized, &to);
  }

  static void from(const type& from, T& to) {
    rclcpp::SerializedMessage serialized;
    rclcpp::Serialization<type>().serialize_message(&from, &serialized);
    const rcl_serialized_message_t& raw = serialized.get_rcl_serialized_message();
    const CdrResult result = from_cdr(std::as_bytes(std::span(raw.buffer, raw.buffer_length)), to);
    if (!result)
      throw Error(ErrorCode::Limit, "the ROS message does not fit Cardan's: " + result.text(),
                  "compare the definitions, and raise the topic's max_bytes");
  }

  /// Enough if no element takes more than four times its wire form in memory, as short texts in large fixed fields can.
  static std::size_t bytes(const type& message) {
    rclcpp::SerializedMessage serialized;
    rclcpp::Serialization<type>().serialize_message(&message, &serialized);
    return 4 * serialized.size() + 4096;
  }
};

}  // namespace cardan::ros
