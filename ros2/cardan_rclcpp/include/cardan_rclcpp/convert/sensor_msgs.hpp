// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cardan/image.hpp"
#include "cardan/messages/sensors.hpp"
#include "cardan/point_cloud.hpp"
#include "cardan_rclcpp/convert/geometry_msgs.hpp"
#include "sensor_msgs/msg/compressed_image.hpp"
#include "sensor_msgs/msg/image.hpp"
#include "sensor_msgs/msg/imu.hpp"
#include "sensor_msgs/msg/nav_sat_fix.hpp"
#include "sensor_msgs/msg/nav_sat_status.hpp"
#include "sensor_msgs/msg/point_cloud2.hpp"
#include "sensor_msgs/msg/point_field.hpp"

namespace cardan::ros {

template <>
struct RosType<Image> {
  using type = sensor_msgs::msg::Image;
  static void to(const Image& from, type& to) {
    to_ros(from.header, to.header);
    to.height = from.height;
    to.width = from.width;
    to.encoding = from.encoding.view();
    to.is_bigendian = from.is_bigendian;
    to.step = from.step;
    to.data.assign(from.data.begin(), from.data.end());
  }
  static void from(const type& from, Image& to) {
    from_ros(from.header, to.header);
    to.height = from.height;
    to.width = from.width;
    detail::assign_or_throw(to.encoding, from.encoding, "encoding");
    to.is_bigendian = from.is_bigendian;
    to.step = from.step;
    to.data.assign(std::span<const std::uint8_t>(from.data));
  }
  static std::size_t bytes(const type& message) { return message.data.size(); }
};

template <>
struct RosType<CompressedImage> {
  using type = sensor_msgs::msg::CompressedImage;
  static void to(const CompressedImage& from, type& to) {
    to_ros(from.header, to.header);
    to.format = from.format.view();
    to.data.assign(from.data.begin(), from.data.end());
  }
  static void from(const type& from, CompressedImage& to) {
    from_ros(from.header, to.header);
    detail::assign_or_throw(to.format, from.format, "format");
    to.data.assign(std::span<const std::uint8_t>(from.data));
  }
  static std::size_t bytes(const type& message) { return message.data.size(); }
};

template <>
struct RosType<PointField> {
  using type = sensor_msgs::msg::PointField;
  static void to(const PointField& from, type& to) {
    to.name = from.name.view();
    to.offset = from.offset;
    to.datatype = static_cast<std::uint8_t>(from.datatype);
    to.count = from.count;
  }
  static void from(const type& from, PointField& to) {
    detail::assign_or_throw(to.name, from.name, "a field's name");
    to.offset = from.offset;
    to.datatype = static_cast<PointField::Type>(from.datatype);
    to.count = from.count;
  }
  static std::size_t bytes(const type& /*message*/) noexcept { return 0; }
};

template <>
struct RosType<PointCloud> {
  using type = sensor_msgs::msg::PointCloud2;
  static void to(const PointCloud& from, type& to) {
    to_ros(from.header, to.header);
    to.height = from.height;
    to.width = from.width;
    to.fields.resize(from.fields.size());
    for (std::size_t i = 0; i < to.fields.size(); ++i) to_ros(from.fields[i], to.fields[i]);
    to.is_bigendian = from.is_bigendian;
    to.point_step = from.point_step;
    to.row_step = from.row_step;
    to.data.assign(from.data.begin(), from.data.end());
    to.is_dense = from.is_dense;
  }
  static void from(const type& from, PointCloud& to) {
    from_ros(from.header, to.header);
    to.height = from.height;
    to.width = from.width;
    if (!to.fields.resize(from.fields.size()))
      throw Error(ErrorCode::Limit,
                  "the point cloud has " + std::to_string(from.fields.size()) +
                      " fields; Cardan's message has room for " + std::to_string(to.fields.capacity()),
                  "leave out fields that nobody reads");
    for (std::size_t i = 0; i < from.fields.size(); ++i) from_ros(from.fields[i], to.fields[i]);
    to.is_bigendian = from.is_bigendian;
    to.point_step = from.point_step;
    to.row_step = from.row_step;
    to.data.assign(std::span<const std::uint8_t>(from.data));
    to.is_dense = from.is_dense;
  }
  static std::size_t bytes(const type& message) { return message.data.size(); }
};

template <>
struct RosType<Imu> {
  using type = sensor_msgs::msg::Imu;
  template <class From, class To>
  static void copy_covariances(const From& from, To& to) noexcept {
    std::copy(from.orientation_covariance.begin(), from.orientation_covariance.end(),
              to.orientation_covariance.begin());
    std::copy(from.angular_velocity_covariance.begin(), from.angular_velocity_covariance.end(),
              to.angular_velocity_covariance.begin());
    std::copy(from.linear_acceleration_covariance.begin(), from.linear_acceleration_covariance.end(),
              to.linear_acceleration_covariance.begin());
  }
  static void to(const Imu& from, type& to) {
    to_ros(from.header, to.header);
    to_ros(from.orientation, to.orientation);
    to_ros(from.angular_velocity, to.angular_velocity);
    to_ros(from.linear_acceleration, to.linear_acceleration);
    copy_covariances(from, to);
  }
  static void from(const type& from, Imu& to) {
    from_ros(from.header, to.header);
    from_ros(from.orientation, to.orientation);
    from_ros(from.angular_velocity, to.angular_velocity);
    from_ros(from.linear_acceleration, to.linear_acceleration);
    copy_covariances(from, to);
  }
  static std::size_t bytes(const type& /*message*/) noexcept { return 0; }
};

template <>
struct RosType<NavSatStatus> {
  using type = sensor_msgs::msg::NavSatStatus;
  static void to(const NavSatStatus& from, type& to) noexcept {
    to.status = static_cast<std::int8_t>(from.status);
    to.service = from.service;
  }
  static void from(const type& from, NavSatStatus& to) noexcept {
    to.status = static_cast<NavSatStatus::Fix>(from.status);
    to.service = from.service;
  }
  static std::size_t bytes(const type& /*message*/) noexcept { return 0; }
};

template <>
struct RosType<NavSatFix> {
  using type = sensor_msgs::msg::NavSatFix;
  static void to(const NavSatFix& from, type& to) {
    to_ros(from.header, to.header);
    to_ros(from.status, to.status);
    to.latitude = from.latitude;
    to.longitude = from.longitude;
    to.altitude = from.altitude;
    std::copy(from.position_covariance.begin(), from.position_covariance.end(), to.position_covariance.begin());
    to.position_covariance_type = static_cast<std::uint8_t>(from.position_covariance_type);
  }
  static void from(const type& from, NavSatFix& to) {
    from_ros(from.header, to.header);
    from_ros(from.status, to.status);
    to.latitude = from.latitude;
    to.longitude = from.longitude;
    to.altitude = from.altitude;
    std::copy(from.position_covariance.begin(), from.position_covariance.end(), to.position_covariance.begin());
    to.position_covariance_type = static_cast<NavSatFix::CovarianceType>(from.position_covariance_type);
  }
  static std::size_t bytes(const type& /*message*/) noexcept { return 0; }
};

}  // namespace cardan::ros
