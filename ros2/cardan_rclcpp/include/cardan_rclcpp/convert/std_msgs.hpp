// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "builtin_interfaces/msg/time.hpp"
#include "cardan/messages/clock.hpp"
#include "cardan/messages/header.hpp"
#include "cardan/shm_string.hpp"
#include "cardan_rclcpp/convert.hpp"
#include "rosgraph_msgs/msg/clock.hpp"
#include "std_msgs/msg/header.hpp"
#include "std_msgs/msg/string.hpp"

namespace cardan::ros {

/// Text; std_msgs/msg/String in ROS 2. Cardan itself has no message for bare text.
struct String {
  shm::string data;
};

}  // namespace cardan::ros

CARDAN_MESSAGE(cardan::ros::String, "std_msgs/msg/String", data);

namespace cardan::ros {

namespace detail {

inline builtin_interfaces::msg::Time ros_time(std::int64_t nanoseconds) noexcept {
  const RosTime time = RosTime::from(nanoseconds);
  builtin_interfaces::msg::Time stamp;
  stamp.sec = time.sec;
  stamp.nanosec = time.nanosec;
  return stamp;
}

inline std::int64_t nanoseconds(const builtin_interfaces::msg::Time& stamp) noexcept {
  return RosTime{stamp.sec, stamp.nanosec}.nanoseconds();
}

}  // namespace detail

template <>
struct RosType<String> {
  using type = std_msgs::msg::String;
  static void to(const String& from, type& to) { to.data.assign(from.data.data(), from.data.size()); }
  static void from(const type& from, String& to) { to.data.assign(from.data); }
  static std::size_t bytes(const type& message) { return message.data.size(); }
};

/// `sequence` has no place in ROS.
template <>
struct RosType<Header> {
  using type = std_msgs::msg::Header;
  static void to(const Header& from, type& to) {
    to.stamp = detail::ros_time(from.stamp);
    to.frame_id = from.frame_id.view();
  }
  static void from(const type& from, Header& to) {
    to.stamp = detail::nanoseconds(from.stamp);
    to.sequence = 0;
    detail::assign_or_throw(to.frame_id, from.frame_id, "header.frame_id");
  }
  static std::size_t bytes(const type& /*message*/) { return 0; }
};

template <>
struct RosType<Clock> {
  using type = rosgraph_msgs::msg::Clock;
  static void to(const Clock& from, type& to) { to.clock = detail::ros_time(from.clock); }
  static void from(const type& from, Clock& to) { to.clock = detail::nanoseconds(from.clock); }
  static std::size_t bytes(const type& /*message*/) { return 0; }
};

}  // namespace cardan::ros
