// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cardan/message.hpp"
#include "cardan/messages.hpp"

// The ROS 2 definitions of standard messages whose fields alone do not give them: fields and constants as in ROS 2
// Jazzy, without the comments. Humble has the same fields and a few constants fewer.

namespace cardan::ros {

inline constexpr RosDefinition kTime{"builtin_interfaces/Time", "int32 sec\nuint32 nanosec\n"};
inline constexpr RosDefinition kHeader{"std_msgs/Header", "builtin_interfaces/Time stamp\nstring frame_id\n"};

inline constexpr RosDefinition kClock{"rosgraph_msgs/Clock", "builtin_interfaces/Time clock\n"};

inline constexpr RosDefinition kVector3{"geometry_msgs/Vector3", "float64 x\nfloat64 y\nfloat64 z\n"};
inline constexpr RosDefinition kPoint{"geometry_msgs/Point", "float64 x\nfloat64 y\nfloat64 z\n"};
inline constexpr RosDefinition kQuaternion{"geometry_msgs/Quaternion",
                                           "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n"};
inline constexpr RosDefinition kPose{"geometry_msgs/Pose", "Point position\nQuaternion orientation\n"};
inline constexpr RosDefinition kTwist{"geometry_msgs/Twist", "Vector3 linear\nVector3 angular\n"};
inline constexpr RosDefinition kTransform{"geometry_msgs/Transform", "Vector3 translation\nQuaternion rotation\n"};
inline constexpr RosDefinition kPoseWithCovariance{"geometry_msgs/PoseWithCovariance",
                                                   "Pose pose\nfloat64[36] covariance\n"};
inline constexpr RosDefinition kTwistWithCovariance{"geometry_msgs/TwistWithCovariance",
                                                    "Twist twist\nfloat64[36] covariance\n"};
inline constexpr RosDefinition kPoseStamped{"geometry_msgs/PoseStamped", "std_msgs/Header header\nPose pose\n"};
inline constexpr RosDefinition kTwistStamped{"geometry_msgs/TwistStamped", "std_msgs/Header header\nTwist twist\n"};
inline constexpr RosDefinition kTransformStamped{
    "geometry_msgs/TransformStamped", "std_msgs/Header header\nstring child_frame_id\nTransform transform\n"};
inline constexpr RosDefinition kTransformMessage{"tf2_msgs/TFMessage", "geometry_msgs/TransformStamped[] transforms\n"};
inline constexpr RosDefinition kOdometry{"nav_msgs/Odometry",
                                         "std_msgs/Header header\n"
                                         "string child_frame_id\n"
                                         "geometry_msgs/PoseWithCovariance pose\n"
                                         "geometry_msgs/TwistWithCovariance twist\n"};

inline constexpr RosDefinition kImage{"sensor_msgs/Image",
                                      "std_msgs/Header header\n"
                                      "uint32 height\n"
                                      "uint32 width\n"
                                      "string encoding\n"
                                      "uint8 is_bigendian\n"
                                      "uint32 step\n"
                                      "uint8[] data\n"};
inline constexpr RosDefinition kCompressedImage{"sensor_msgs/CompressedImage",
                                                "std_msgs/Header header\nstring format\nuint8[] data\n"};
inline constexpr RosDefinition kPointField{"sensor_msgs/PointField",
                                           "uint8 INT8=1\n"
                                           "uint8 UINT8=2\n"
                                           "uint8 INT16=3\n"
                                           "uint8 UINT16=4\n"
                                           "uint8 INT32=5\n"
                                           "uint8 UINT32=6\n"
                                           "uint8 FLOAT32=7\n"
                                           "uint8 FLOAT64=8\n"
                                           "string name\n"
                                           "uint32 offset\n"
                                           "uint8 datatype\n"
                                           "uint32 count\n"};
inline constexpr RosDefinition kPointCloud2{"sensor_msgs/PointCloud2",
                                            "std_msgs/Header header\n"
                                            "uint32 height\n"
                                            "uint32 width\n"
                                            "PointField[] fields\n"
                                            "bool is_bigendian\n"
                                            "uint32 point_step\n"
                                            "uint32 row_step\n"
                                            "uint8[] data\n"
                                            "bool is_dense\n"};
inline constexpr RosDefinition kImu{"sensor_msgs/Imu",
                                    "std_msgs/Header header\n"
                                    "geometry_msgs/Quaternion orientation\n"
                                    "float64[9] orientation_covariance\n"
                                    "geometry_msgs/Vector3 angular_velocity\n"
                                    "float64[9] angular_velocity_covariance\n"
                                    "geometry_msgs/Vector3 linear_acceleration\n"
                                    "float64[9] linear_acceleration_covariance\n"};
inline constexpr RosDefinition kNavSatStatus{"sensor_msgs/NavSatStatus",
                                             "int8 STATUS_UNKNOWN=-2\n"
                                             "int8 STATUS_NO_FIX=-1\n"
                                             "int8 STATUS_FIX=0\n"
                                             "int8 STATUS_SBAS_FIX=1\n"
                                             "int8 STATUS_GBAS_FIX=2\n"
                                             "uint16 SERVICE_UNKNOWN=0\n"
                                             "uint16 SERVICE_GPS=1\n"
                                             "uint16 SERVICE_GLONASS=2\n"
                                             "uint16 SERVICE_COMPASS=4\n"
                                             "uint16 SERVICE_GALILEO=8\n"
                                             "int8 status\n"
                                             "uint16 service\n"};
inline constexpr RosDefinition kNavSatFix{"sensor_msgs/NavSatFix",
                                          "uint8 COVARIANCE_TYPE_UNKNOWN=0\n"
                                          "uint8 COVARIANCE_TYPE_APPROXIMATED=1\n"
                                          "uint8 COVARIANCE_TYPE_DIAGONAL_KNOWN=2\n"
                                          "uint8 COVARIANCE_TYPE_KNOWN=3\n"
                                          "std_msgs/Header header\n"
                                          "NavSatStatus status\n"
                                          "float64 latitude\n"
                                          "float64 longitude\n"
                                          "float64 altitude\n"
                                          "float64[9] position_covariance\n"
                                          "uint8 position_covariance_type\n"};

inline constexpr RosDefinition kCanFrame{"can_msgs/Frame",
                                         "std_msgs/Header header\n"
                                         "uint32 id\n"
                                         "bool is_rtr\n"
                                         "bool is_extended\n"
                                         "bool is_error\n"
                                         "uint8 dlc\n"
                                         "uint8[8] data\n"};

// vision_msgs 4 (Humble and newer).
inline constexpr RosDefinition kPoint2D{"vision_msgs/Point2D", "float64 x\nfloat64 y\n"};
inline constexpr RosDefinition kPose2D{"vision_msgs/Pose2D", "vision_msgs/Point2D position\nfloat64 theta\n"};
inline constexpr RosDefinition kBoundingBox2D{"vision_msgs/BoundingBox2D",
                                              "vision_msgs/Pose2D center\nfloat64 size_x\nfloat64 size_y\n"};
inline constexpr RosDefinition kBoundingBox3D{"vision_msgs/BoundingBox3D",
                                              "geometry_msgs/Pose center\ngeometry_msgs/Vector3 size\n"};
inline constexpr RosDefinition kObjectHypothesis{"vision_msgs/ObjectHypothesis", "string class_id\nfloat64 score\n"};
inline constexpr RosDefinition kObjectHypothesisWithPose{
    "vision_msgs/ObjectHypothesisWithPose", "ObjectHypothesis hypothesis\ngeometry_msgs/PoseWithCovariance pose\n"};
inline constexpr RosDefinition kDetection2D{"vision_msgs/Detection2D",
                                            "std_msgs/Header header\n"
                                            "ObjectHypothesisWithPose[] results\n"
                                            "BoundingBox2D bbox\n"
                                            "string id\n"};
inline constexpr RosDefinition kDetection2DArray{"vision_msgs/Detection2DArray",
                                                 "std_msgs/Header header\nDetection2D[] detections\n"};
inline constexpr RosDefinition kDetection3D{"vision_msgs/Detection3D",
                                            "std_msgs/Header header\n"
                                            "ObjectHypothesisWithPose[] results\n"
                                            "BoundingBox3D bbox\n"
                                            "string id\n"};
inline constexpr RosDefinition kDetection3DArray{"vision_msgs/Detection3DArray",
                                                 "std_msgs/Header header\nDetection3D[] detections\n"};

}  // namespace cardan::ros

/// The standard messages: each is listed here once, and everything that goes through all of them follows. After its
/// name: the definitions from above (its own first), if it has some. Those of its fields' types are added
/// automatically.
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
  M(TransformMessage, ros::kTransformMessage)                                                                         \
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
