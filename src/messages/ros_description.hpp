// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cardan {

/// The description of a message type whose SHA-256 is the type's hash in ROS 2 (REP-2016): JSON, the same to the byte
/// wherever it is made. `schema`: its ros2msg text, with the types that it uses. Empty: the text is invalid, or has a
/// name that ROS 2 does not allow. Any thread; does not block.
[[nodiscard]] std::string ros_type_description(const std::string& type_name, const std::string& schema);

}  // namespace cardan
