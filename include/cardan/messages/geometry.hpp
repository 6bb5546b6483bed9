// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "cardan/messages/header.hpp"

/// \file
/// Positions, orientations and motion: geometry_msgs and nav_msgs/Odometry. Metres, radians and seconds; x forward, y
/// left, z up (REP-103).

namespace cardan {

/// A vector in space; geometry_msgs/msg/Vector3 in ROS 2. The message that holds it says the unit.
struct Vector3 {
  double x = 0, y = 0, z = 0;  ///< along the axes of the frame
  friend bool operator==(const Vector3&, const Vector3&) = default;
};

/// A position; geometry_msgs/msg/Point in ROS 2.
struct Point {
  double x = 0, y = 0, z = 0;  ///< metres
  friend bool operator==(const Point&, const Point&) = default;
};

/// A unit quaternion; geometry_msgs/msg/Quaternion in ROS 2. A default-constructed one rotates nothing.
struct Quaternion {
  double x = 0, y = 0, z = 0, w = 1;  ///< axis · sin(angle / 2), and cos(angle / 2)
  friend bool operator==(const Quaternion&, const Quaternion&) = default;
};

/// Position and orientation; geometry_msgs/msg/Pose in ROS 2.
struct Pose {
  Point position;
  Quaternion orientation;
  friend bool operator==(const Pose&, const Pose&) = default;
};

/// Velocities; geometry_msgs/msg/Twist in ROS 2.
struct Twist {
  Vector3 linear;   ///< m/s
  Vector3 angular;  ///< rad/s
  friend bool operator==(const Twist&, const Twist&) = default;
};

/// Translation and rotation; geometry_msgs/msg/Transform in ROS 2.
struct Transform {
  Vector3 translation;  ///< metres
  Quaternion rotation;
  friend bool operator==(const Transform&, const Transform&) = default;
};

/// A pose with its uncertainty; geometry_msgs/msg/PoseWithCovariance in ROS 2.
struct PoseWithCovariance {
  Pose pose;
  std::array<double, 36> covariance{};  ///< row-major 6×6: x, y, z, rotation about X, Y, Z
};

/// Velocities with their uncertainty; geometry_msgs/msg/TwistWithCovariance in ROS 2.
struct TwistWithCovariance {
  Twist twist;
  std::array<double, 36> covariance{};  ///< row-major 6×6: x, y, z, rotation about X, Y, Z
};

/// A pose at a time; geometry_msgs/msg/PoseStamped in ROS 2.
struct PoseStamped {
  Header header;  ///< frame in which the pose is given
  Pose pose;
};

/// Velocities at a time; geometry_msgs/msg/TwistStamped in ROS 2.
struct TwistStamped {
  Header header;  ///< frame in which the velocities are given
  Twist twist;
};

/// The place of a frame in another, at a time; geometry_msgs/msg/TransformStamped in ROS 2.
struct TransformStamped {
  Header header;           ///< `frame_id`: the parent frame
  FrameId child_frame_id;  ///< the frame whose place is given
  Transform transform;     ///< takes coordinates in the child frame to the parent frame, as in tf2
};

/// Estimated pose and velocity; nav_msgs/msg/Odometry in ROS 2.
struct Odometry {
  Header header;              ///< `frame_id`: the frame of `pose`
  FrameId child_frame_id;     ///< the moving frame, usually the vehicle's
  PoseWithCovariance pose;    ///< of the moving frame, in `header.frame_id`
  TwistWithCovariance twist;  ///< in the moving frame, `child_frame_id`
};

}  // namespace cardan

CARDAN_STANDARD_MESSAGE_(cardan::Vector3, "geometry_msgs/msg/Vector3", x, y, z);
CARDAN_STANDARD_MESSAGE_(cardan::Point, "geometry_msgs/msg/Point", x, y, z);
CARDAN_STANDARD_MESSAGE_(cardan::Quaternion, "geometry_msgs/msg/Quaternion", x, y, z, w);
CARDAN_STANDARD_MESSAGE_(cardan::Pose, "geometry_msgs/msg/Pose", position, orientation);
CARDAN_STANDARD_MESSAGE_(cardan::Twist, "geometry_msgs/msg/Twist", linear, angular);
CARDAN_STANDARD_MESSAGE_(cardan::Transform, "geometry_msgs/msg/Transform", translation, rotation);
CARDAN_STANDARD_MESSAGE_(cardan::PoseWithCovariance, "geometry_msgs/msg/PoseWithCovariance", pose, covariance);
CARDAN_STANDARD_MESSAGE_(cardan::TwistWithCovariance, "geometry_msgs/msg/TwistWithCovariance", twist, covariance);
CARDAN_STANDARD_MESSAGE_(cardan::PoseStamped, "geometry_msgs/msg/PoseStamped", header, pose);
CARDAN_STANDARD_MESSAGE_(cardan::TwistStamped, "geometry_msgs/msg/TwistStamped", header, twist);
CARDAN_STANDARD_MESSAGE_(cardan::TransformStamped, "geometry_msgs/msg/TransformStamped", header, child_frame_id,
                         transform);
CARDAN_STANDARD_MESSAGE_(cardan::Odometry, "nav_msgs/msg/Odometry", header, child_frame_id, pose, twist);
