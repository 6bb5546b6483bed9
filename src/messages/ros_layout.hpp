// SPDX-License-Identifier: Apache-2.0
// The memory layout of messages whose type no program has as a struct: played from a recording, or received by a
// bridge.
#pragma once

#include <memory>
#include <string_view>

#include "cardan/type_layout.hpp"
#include "src/messages/ros_schema.hpp"

namespace cardan {

/// The layout of a ROS 2 message that does not exist as a C++ struct.
/// - The fields lie in their order, each at the next place that its natural alignment allows.
/// - Lists are `shm::vector`s, also bounded ones and lists of messages that hold lists.
/// - Texts are `shm::string`s; a text of 16-bit letters is an `shm::vector` of them.
/// - Fixed arrays lie in the struct. Constants and default values are not in the struct.
///
/// The same definition always gives the same hash. Where a C++ compiler lays the type out alike, that is also the hash
/// of the C++ type. Throws Error (Limit) if it would be larger than a message can be.
/// Any thread; never blocks.
[[nodiscard]] std::shared_ptr<const TypeLayout> layout_of_ros(const RosSchema& schema, std::string_view type_name);

/// The same for a `ros2msg` text. Null if the text makes no sense.
[[nodiscard]] std::shared_ptr<const TypeLayout> layout_of_definition(std::string_view type_name,
                                                                     std::string_view definition);

/// Whether both definitions have the same fields: the same names and types, down to the numbers. Bounds may differ,
/// because they do not show on the wire.
[[nodiscard]] bool same_fields(const RosMessage& a, const RosMessage& b);

}  // namespace cardan
