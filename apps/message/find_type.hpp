// SPDX-License-Identifier: Apache-2.0
// Message types by the words that a user has for them.
#pragma once

#include <string>
#include <vector>

#include "cardan/any_type.hpp"
#include "cardan/observer.hpp"

namespace cardan::apps {

struct TypeSearch {
  std::string name;                  ///< "sensor_msgs/msg/Imu"; "sensor_msgs/Imu" means the same
  std::vector<std::string> folders;  ///< with .msg files, searched first
  std::string
      topic;  ///< whose publishers (of this user) are asked before the rest; empty: those of all topics, at last
  std::string domain;
};

/// Finds a type in the folders, at running publishers, among Cardan's own and the standard ones of ROS 2, and in what
/// $AMENT_PREFIX_PATH names. Throws Error (InvalidArgument) that names what is near if no type has that name, or
/// if its messages cannot be made from their fields. Blocks for the disk and for publishers that do not answer.
[[nodiscard]] AnyType find_type(const TypeSearch& search);

/// Whether this user or root publishes it. Others can give a stream any type, also a false one of a known name.
[[nodiscard]] bool is_of_this_user(const ObservedStream& stream);

/// All types that are known without a publisher or a folder, sorted.
[[nodiscard]] std::vector<std::string> known_types();

/// "float64[36]", "string<=20", "sensor_msgs/msg/PointField[]"
[[nodiscard]] std::string type_name(const TypeLayout& type);

}  // namespace cardan::apps
