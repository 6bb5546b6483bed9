// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "cardan/messages/geometry.hpp"
#include "cardan_rclcpp/convert/std_msgs.hpp"
#include "geometry_msgs/msg/point.hpp"
#include "geometry_msgs/msg/pose.hpp"
#include "geometry_msgs/msg/pose_stamped.hpp"
#include "geometry_msgs/msg/pose_with_covariance.hpp"
#include "geometry_msgs/msg/quaternion.hpp"
#include "geometry_msgs/msg/transform.hpp"
#include "geometry_msgs/msg/transform_stamped.hpp"
#include "geometry_msgs/msg/twist.hpp"
#include "geometry_msgs/msg/twist_stamped.hpp"
#include "geometry_msgs/msg/twist_with_covariance.hpp"
#include "geometry_msgs/msg/vector3.hpp"
#include "nav_msgs/msg/odometry.hpp"

// Positions, orientations and motion. All are plain numbers, except for the frames' names.

namespace cardan::ros {

namespace detail {

template <class From, class To>
void copy_xyz(const From& from, To& to) noexcept {
  to.x = from.x;
  to.y = from.y;
  to.z = from.z;
}

/// A type of x, y and z.
template <class T, class Ros>
struct XyzType {
  using type = Ros;
  static void to(const T& from, type& to) noexcept { copy_xyz(from, to); }
  static void from(const type& from, T& to) noexcept { copy_xyz(from, to); }
  static std::size_t bytes(const type& /*message*/) noexcept { return 0; }
};

}  // namespace detail

template <>
struct RosType<Vector3> : detail::XyzType<Vector3, geometry_msgs::msg::Vector3> {};
template <>
struct RosType<Point> : detail::XyzType<Point, geometry_msgs::msg::Point> {};

template <>
struct RosType<Quaternion> {
  using type = geometry_msgs::msg::Quaternion;
  static void to(const Quaternion& from, type& to) noexcept {
    detail::copy_xyz(from, to);
    to.w = from.w;
  }
  static void from(const type& from, Quaternion& to) noexcept {
    detail::copy_xyz(from, to);
    to.w = from.w;
  }
  static std::size_t bytes(const type& /*message*/) noexcept { return 0; }
};

template <>
struct RosType<Pose> {
  using type = geometry_msgs::msg::Pose;
  static void to(const Pose& from, type& to) noexcept {
    to_ros(from.position, to.position);
    to_ros(from.orientation, to.orientation);
  }
  static void from(const type& from, Pose& to) noexcept {
    from_ros(from.position, to.position);
    from_ros(from.orientation, to.orientation);
  }
  static std::size_t bytes(const type& /*message*/) noexcept { return 0; }
};

template <>
struct RosType<Twist> {
  using type = geometry_msgs::msg::Twist;
  static void to(const Twist& from, type& to) noexcept {
    to_ros(from.linear, to.linear);
    to_ros(from.angular, to.angular);
  }
  static void from(const type& from, Twist& to) noexcept {
    from_ros(from.linear, to.linear);
    from_ros(from.angular, to.angular);
  }
  static std::size_t bytes(const type& /*message*/) noexcept { return 0; }
};

template <>
struct RosType<Transform> {
  using type = geometry_msgs::msg::Transform;
  static void to(const Transform& from, type& to) noexcept {
    to_ros(from.translation, to.translation);
    to_ros(from.rotation, to.rotation);
  }
  static void from(const type& from, Transform& to) noexcept {
    from_ros(from.translation, to.translation);
    from_ros(from.rotation, to.rotation);
  }
  static std::size_t bytes(const type& /*message*/) noexcept { return 0; }
};

template <>
struct RosType<PoseWithCovariance> {
  using type = geometry_msgs::msg::PoseWithCovariance;
  static void to(const PoseWithCovariance& from, type& to) noexcept {
    to_ros(from.pose, to.pose);
    std::copy(from.covariance.begin(), from.covariance.end(), to.covariance.begin());
  }
  static void from(const type& from, PoseWithCovariance& to) noexcept {
    from_ros(from.pose, to.pose);
    std::copy(from.covariance.begin(), from.covariance.end(), to.covariance.begin());
  }
  static std::size_t bytes(const type& /*message*/) noexcept { return 0; }
};

template <>
struct RosType<TwistWithCovariance> {
  using type = geometry_msgs::msg::TwistWithCovariance;
  static void to(const TwistWithCovariance& from, type& to) noexcept {
    to_ros(from.twist, to.twist);
    std::copy(from.covariance.begin(), from.covariance.end(), to.covariance.begin());
  }
  static void from(const type& from, TwistWithCovariance& to) noexcept {
    from_ros(from.twist, to.twist);
    std::copy(from.covariance.begin(), from.covariance.end(), to.covariance.begin());
  }
  static std::size_t bytes(const type& /*message*/) noexcept { return 0; }
};

template <>
struct RosType<PoseStamped> {
  using type = geometry_msgs::msg::PoseStamped;
  static void to(const PoseStamped& from, type& to) {
    to_ros(from.header, to.header);
    to_ros(from.pose, to.pose);
  }
  static void from(const type& from, PoseStamped& to) {
    from_ros(from.header, to.header);
    from_ros(from.pose, to.pose);
  }
  static std::size_t bytes(const type& /*message*/) noexcept { return 0; }
};

template <>
struct RosType<TwistStamped> {
  using type = geometry_msgs::msg::TwistStamped;
  static void to(const TwistStamped& from, type& to) {
    to_ros(from.header, to.header);
    to_ros(from.twist, to.twist);
  }
  static void from(const type& from, TwistStamped& to) {
    from_ros(from.header, to.header);
    from_ros(from.twist, to.twist);
  }
  static std::size_t bytes(const type& /*message*/) noexcept { return 0; }
};

template <>
struct RosType<TransformStamped> {
  using type = geometry_msgs::msg::TransformStamped;
  static void to(const TransformStamped& from, type& to) {
    to_ros(from.header, to.header);
    to.child_frame_id = from.child_frame_id.view();
    to_ros(from.transform, to.transform);
  }
  static void from(const type& from, TransformStamped& to) {
    from_ros(from.header, to.header);
    detail::assign_or_throw(to.child_frame_id, from.child_frame_id, "child_frame_id");
    from_ros(from.transform, to.transform);
  }
  static std::size_t bytes(const type& /*message*/) noexcept { return 0; }
};

template <>
struct RosType<Odometry> {
  using type = nav_msgs::msg::Odometry;
  static void to(const Odometry& from, type& to) {
    to_ros(from.header, to.header);
    to.child_frame_id = from.child_frame_id.view();
    to_ros(from.pose, to.pose);
    to_ros(from.twist, to.twist);
  }
  static void from(const type& from, Odometry& to) {
    from_ros(from.header, to.header);
    detail::assign_or_throw(to.child_frame_id, from.child_frame_id, "child_frame_id");
    from_ros(from.pose, to.pose);
    from_ros(from.twist, to.twist);
  }
  static std::size_t bytes(const type& /*message*/) noexcept { return 0; }
};

}  // namespace cardan::ros
