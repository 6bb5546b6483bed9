// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "cardan/messages/cycle_hint.hpp"
#include "cardan/messages/messages.hpp"
#include "cardan/messages/ros_definitions.hpp"
#include "cardan/types/message.hpp"

// The ROS 2 forms of the standard messages, and what sources that use these messages need of their descriptions. It
// stands here once, because computing it took a source that includes Cardan longer than everything of its own.

CARDAN_ROS_FORM_(cardan::Header, cardan::ros::kHeader, cardan::ros::kTime);
CARDAN_ROS_FORM_(cardan::Clock, cardan::ros::kClock, cardan::ros::kTime);
CARDAN_ROS_FORM_(cardan::Vector3, cardan::ros::kVector3);
CARDAN_ROS_FORM_(cardan::Point, cardan::ros::kPoint);
CARDAN_ROS_FORM_(cardan::Quaternion, cardan::ros::kQuaternion);
CARDAN_ROS_FORM_(cardan::Pose, cardan::ros::kPose);
CARDAN_ROS_FORM_(cardan::Twist, cardan::ros::kTwist);
CARDAN_ROS_FORM_(cardan::Transform, cardan::ros::kTransform);
CARDAN_ROS_FORM_(cardan::PoseWithCovariance, cardan::ros::kPoseWithCovariance);
CARDAN_ROS_FORM_(cardan::TwistWithCovariance, cardan::ros::kTwistWithCovariance);
CARDAN_ROS_FORM_(cardan::PoseStamped, cardan::ros::kPoseStamped);
CARDAN_ROS_FORM_(cardan::TwistStamped, cardan::ros::kTwistStamped);
CARDAN_ROS_FORM_(cardan::TransformStamped, cardan::ros::kTransformStamped);
CARDAN_ROS_FORM_(cardan::Odometry, cardan::ros::kOdometry);
CARDAN_ROS_FORM_(cardan::Imu, cardan::ros::kImu);
CARDAN_ROS_FORM_(cardan::NavSatStatus, cardan::ros::kNavSatStatus);
CARDAN_ROS_FORM_(cardan::NavSatFix, cardan::ros::kNavSatFix);
CARDAN_ROS_FORM_(cardan::CanFrame, cardan::ros::kCanFrame);
CARDAN_ROS_FORM_(cardan::Image, cardan::ros::kImage);
CARDAN_ROS_FORM_(cardan::CompressedImage, cardan::ros::kCompressedImage);
CARDAN_ROS_FORM_(cardan::PointField, cardan::ros::kPointField);
CARDAN_ROS_FORM_(cardan::PointCloud, cardan::ros::kPointCloud2, cardan::ros::kPointField);
CARDAN_ROS_FORM_(cardan::Detection2D, cardan::ros::kDetection2D, cardan::ros::kHeader, cardan::ros::kTime,
                 cardan::ros::kObjectHypothesisWithPose, cardan::ros::kObjectHypothesis,
                 cardan::ros::kPoseWithCovariance, cardan::ros::kPose, cardan::ros::kPoint, cardan::ros::kQuaternion,
                 cardan::ros::kBoundingBox2D, cardan::ros::kPose2D, cardan::ros::kPoint2D);
CARDAN_ROS_FORM_(cardan::Detection3D, cardan::ros::kDetection3D, cardan::ros::kHeader, cardan::ros::kTime,
                 cardan::ros::kObjectHypothesisWithPose, cardan::ros::kObjectHypothesis,
                 cardan::ros::kPoseWithCovariance, cardan::ros::kPose, cardan::ros::kPoint, cardan::ros::kQuaternion,
                 cardan::ros::kBoundingBox3D, cardan::ros::kVector3);
CARDAN_ROS_FORM_(cardan::Detections2D, cardan::ros::kDetection2DArray);
CARDAN_ROS_FORM_(cardan::Detections3D, cardan::ros::kDetection3DArray);

namespace cardan::detail {

template <class T>
void add_standard_message(SchemaWriter& writer) {
  static_assert(check_standard_message(reflection_of<T>{}));
  writer.add_message(reflection_of<T>{});
}

template <class T>
MessageType standard_message_type() {
  using Traits = message_traits<T>;
  return make_message_type(Traits::type_name(), Traits::schema(), Traits::type_hash(), sizeof(T), alignof(T),
                           shm::has_vectors<T>);
}

#define CARDAN_DEFINE_STANDARD_(Type)                      \
  template void add_standard_message<Type>(SchemaWriter&); \
  template MessageType standard_message_type<Type>()

CARDAN_DEFINE_STANDARD_(Header);
CARDAN_DEFINE_STANDARD_(Clock);
CARDAN_DEFINE_STANDARD_(Vector3);
CARDAN_DEFINE_STANDARD_(Point);
CARDAN_DEFINE_STANDARD_(Quaternion);
CARDAN_DEFINE_STANDARD_(Pose);
CARDAN_DEFINE_STANDARD_(Twist);
CARDAN_DEFINE_STANDARD_(Transform);
CARDAN_DEFINE_STANDARD_(PoseWithCovariance);
CARDAN_DEFINE_STANDARD_(TwistWithCovariance);
CARDAN_DEFINE_STANDARD_(PoseStamped);
CARDAN_DEFINE_STANDARD_(TwistStamped);
CARDAN_DEFINE_STANDARD_(TransformStamped);
CARDAN_DEFINE_STANDARD_(Odometry);
CARDAN_DEFINE_STANDARD_(Imu);
CARDAN_DEFINE_STANDARD_(NavSatStatus);
CARDAN_DEFINE_STANDARD_(NavSatFix);
CARDAN_DEFINE_STANDARD_(CanFrame);
CARDAN_DEFINE_STANDARD_(Image);
CARDAN_DEFINE_STANDARD_(CompressedImage);
CARDAN_DEFINE_STANDARD_(PointField);
CARDAN_DEFINE_STANDARD_(PointCloud);
CARDAN_DEFINE_STANDARD_(Detection2D);
CARDAN_DEFINE_STANDARD_(Detection3D);
CARDAN_DEFINE_STANDARD_(Detections2D);
CARDAN_DEFINE_STANDARD_(Detections3D);
CARDAN_DEFINE_STANDARD_(RecordedTopic);
CARDAN_DEFINE_STANDARD_(RecorderStatistics);
CARDAN_DEFINE_STANDARD_(CycleHint);

#undef CARDAN_DEFINE_STANDARD_

}  // namespace cardan::detail
