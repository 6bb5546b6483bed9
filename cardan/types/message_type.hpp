// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace cardan::detail {

/// What the untyped core needs to know about a message type.
struct MessageType {
  std::string name;    ///< as in ROS 2: "sensor_msgs/msg/Image"
  std::string schema;  ///< ros2msg text
  std::uint64_t hash;  ///< of the layout
  std::size_t bytes;   ///< of the fixed struct
  std::size_t alignment;
  bool has_arena;  ///< it has vectors or strings: an arena stands before it, and subscribers get a checked copy of the
                   ///< fixed struct
  std::size_t arena_bytes;
};

}  // namespace cardan::detail
