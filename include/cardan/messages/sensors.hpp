// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "cardan/messages/geometry.hpp"

/// \file
/// Plain sensor messages: inertial, satellite navigation, CAN.

namespace cardan {

/// Measurements of an inertial sensor; sensor_msgs/msg/Imu in ROS 2. A covariance whose first element is -1 means that
/// the quantity is not measured.
struct Imu {
  Header header;           ///< `frame_id`: the sensor's frame, in which the rates and accelerations are given
  Quaternion orientation;  ///< of the sensor
  std::array<double, 9> orientation_covariance{};          ///< rad², row-major about x, y, z
  Vector3 angular_velocity;                                ///< rad/s
  std::array<double, 9> angular_velocity_covariance{};     ///< (rad/s)², row-major x, y, z
  Vector3 linear_acceleration;                             ///< m/s²
  std::array<double, 9> linear_acceleration_covariance{};  ///< (m/s²)², row-major x, y, z
};

/// The kind of a position fix, and the systems used; sensor_msgs/msg/NavSatStatus in ROS 2.
struct NavSatStatus {
  /// With ROS's values.
  enum class Fix : std::int8_t {
    Unknown = -2,  ///< the receiver does not say it
    None = -1,     ///< it has no position
    Fix = 0,       ///< without augmentation
    Sbas = 1,      ///< with corrections from satellites
    Gbas = 2,      ///< with corrections from a ground station
  };
  /// Systems of satellites; kCompass is BeiDou.
  static constexpr std::uint16_t kGps = 1, kGlonass = 2, kCompass = 4, kGalileo = 8;

  Fix status = Fix::Unknown;
  std::uint16_t service = 0;  ///< sum of kGps, kGlonass, kCompass, kGalileo
};

/// A position of a satellite receiver; sensor_msgs/msg/NavSatFix in ROS 2.
struct NavSatFix {
  /// Which elements of the covariance are known; with ROS's values.
  enum class CovarianceType : std::uint8_t { Unknown = 0, Approximated = 1, DiagonalKnown = 2, Known = 3 };

  Header header;  ///< `frame_id`: the frame of the antenna
  NavSatStatus status;
  double latitude = 0;                          ///< degrees, north positive
  double longitude = 0;                         ///< degrees, east positive
  double altitude = 0;                          ///< metres above the WGS 84 ellipsoid
  std::array<double, 9> position_covariance{};  ///< m², row-major east, north, up
  CovarianceType position_covariance_type = CovarianceType::Unknown;
};

/// A classic CAN frame; can_msgs/msg/Frame in ROS 2, which has no CAN FD.
struct CanFrame {
  Header header;
  std::uint32_t id = 0;      ///< 11 bits, or 29 if `is_extended`
  bool is_rtr = false;       ///< asks for data and has none
  bool is_extended = false;  ///< `id` has 29 bits
  bool is_error = false;     ///< an error frame, not data
  std::uint8_t dlc = 0;      ///< valid bytes of `data`, 0 to 8
  std::array<std::uint8_t, 8> data{};
};

}  // namespace cardan

CARDAN_STANDARD_MESSAGE_(cardan::Imu, "sensor_msgs/msg/Imu", header, orientation, orientation_covariance,
                         angular_velocity, angular_velocity_covariance, linear_acceleration,
                         linear_acceleration_covariance);
CARDAN_STANDARD_MESSAGE_(cardan::NavSatStatus, "sensor_msgs/msg/NavSatStatus", status, service);
CARDAN_STANDARD_MESSAGE_(cardan::NavSatFix, "sensor_msgs/msg/NavSatFix", header, status, latitude, longitude, altitude,
                         position_covariance, position_covariance_type);
CARDAN_STANDARD_MESSAGE_(cardan::CanFrame, "can_msgs/msg/Frame", header, id, is_rtr, is_extended, is_error, dlc, data);
