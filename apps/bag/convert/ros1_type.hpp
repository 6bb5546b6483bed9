// SPDX-License-Identifier: Apache-2.0
// Types of ROS 1 as ROS 2 has them: the definition's text, and messages from the one wire form to the other.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/messages/ros_schema.hpp"

namespace cardan::apps {

/// "sensor_msgs/Imu" → "sensor_msgs/msg/Imu"; tf/tfMessage → tf2_msgs/msg/TFMessage. Empty: it is not the name of a
/// type.
[[nodiscard]] std::string ros2_name(const std::string& ros1_name);

/// A definition of ROS 1 in the words of ROS 2 (`ros2msg`): time and duration are builtin_interfaces', the
/// header has no seq, names of fields have small letters. Throws Error (InvalidArgument): a line makes no sense.
[[nodiscard]] std::string ros2_definition(const std::string& ros1_name, const std::string& definition);

/// Turns messages of one type into CDR. Not to be shared by threads; does not block.
class Ros1Type {
 public:
  /// Throws Error (InvalidArgument, Limit): the definition makes no sense, or is absurdly large.
  Ros1Type(const std::string& ros1_name, const std::string& definition);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& schema() const noexcept { return schema_; }

  /// Replaces `out`. False: the bytes are not those of such a message. `out` is never larger than some times `in`.
  [[nodiscard]] bool to_cdr(std::span<const std::byte> in, std::vector<std::byte>& out) const;

 private:
  std::string name_, schema_;
  std::unique_ptr<RosSchema> parsed_;
};

}  // namespace cardan::apps
