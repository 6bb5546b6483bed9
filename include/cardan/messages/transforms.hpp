// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cardan/messages/geometry.hpp"
#include "cardan/shm_vector.hpp"
#include "cardan/topic.hpp"

/// \file
/// Where frames are: the topics /tf and /tf_static, with the names, types and meaning that they have in ROS 2
/// (REP-105).

namespace cardan {

/// Places of frames in their parent frames; tf2_msgs/msg/TFMessage in ROS 2.
struct TransformMessage {
  shm::vector<TransformStamped> transforms;
};

/// Places that change. Each is valid at its stamp; between two stamps a reader interpolates. A message has room for 70
/// places; a publisher of fewer or more may use a topic with the same name and depth, and another `max_bytes`.
inline constexpr Topic<TransformMessage> kTransforms{"/tf", {.max_bytes = 16 << 10, .depth = 64}};
/// Places that never change (sensors on the vehicle). A reader that comes later gets them, too. As kTransforms.
inline constexpr Topic<TransformMessage> kStaticTransforms{"/tf_static", {.max_bytes = 16 << 10, .depth = 64}};

}  // namespace cardan

CARDAN_STANDARD_MESSAGE_(cardan::TransformMessage, "tf2_msgs/msg/TFMessage", transforms);
