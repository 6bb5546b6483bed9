// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cardan/messages.hpp"

/// The standard messages: each is listed here once, and everything that goes through all of them follows. After its
/// name: the ROS 2 definitions of ros_definitions.hpp (its own first) where its fields alone do not give them.
/// Definitions of its fields' types are added automatically.
#define CARDAN_STANDARD_MESSAGES_(M)                                                                                  \
  M(Header, ros::kHeader, ros::kTime)                                                                                 \
  M(Clock, ros::kClock, ros::kTime)                                                                                   \
  M(Vector3, ros::kVector3)                                                                                           \
  M(Point, ros::kPoint)                                                                                               \
  M(Quaternion, ros::kQuaternion)                                                                                     \
  M(Pose, ros::kPose)                                                                                                 \
  M(Twist, ros::kTwist)                                                                                               \
  M(Transform, ros::kTransform)                                                                                       \
  M(PoseWithCovariance, ros::kPoseWithCovariance)                                                                     \
  M(TwistWithCovariance, ros::kTwistWithCovariance)                                                                   \
  M(PoseStamped, ros::kPoseStamped)                                                                                   \
  M(TwistStamped, ros::kTwistStamped)                                                                                 \
  M(TransformStamped, ros::kTransformStamped)                                                                         \
  M(Odometry, ros::kOdometry)                                                                                         \
  M(Imu, ros::kImu)                                                                                                   \
  M(NavSatStatus, ros::kNavSatStatus)                                                                                 \
  M(NavSatFix, ros::kNavSatFix)                                                                                       \
  M(CanFrame, ros::kCanFrame)                                                                                         \
  M(Image, ros::kImage)                                                                                               \
  M(CompressedImage, ros::kCompressedImage)                                                                           \
  M(PointField, ros::kPointField)                                                                                     \
  M(PointCloud, ros::kPointCloud2, ros::kPointField)                                                                  \
  M(Detection2D, ros::kDetection2D, ros::kHeader, ros::kTime, ros::kObjectHypothesisWithPose, ros::kObjectHypothesis, \
    ros::kPoseWithCovariance, ros::kPose, ros::kPoint, ros::kQuaternion, ros::kBoundingBox2D, ros::kPose2D,           \
    ros::kPoint2D)                                                                                                    \
  M(Detection3D, ros::kDetection3D, ros::kHeader, ros::kTime, ros::kObjectHypothesisWithPose, ros::kObjectHypothesis, \
    ros::kPoseWithCovariance, ros::kPose, ros::kPoint, ros::kQuaternion, ros::kBoundingBox3D, ros::kVector3)          \
  M(Detections2D, ros::kDetection2DArray)                                                                             \
  M(Detections3D, ros::kDetection3DArray)                                                                             \
  M(RecordedTopic)                                                                                                    \
  M(RecorderStatistics)                                                                                               \
  M(CycleHint)

namespace cardan::detail {

template <class... T>
struct MessageList {};

template <class First, class... T>
MessageList<T...> without_first(MessageList<First, T...>);

#define CARDAN_LISTED_(Type, ...) , Type
/// For known_layout(), tests and fuzzers.
using StandardMessages = decltype(without_first(MessageList<void CARDAN_STANDARD_MESSAGES_(CARDAN_LISTED_)>{}));
#undef CARDAN_LISTED_

}  // namespace cardan::detail
