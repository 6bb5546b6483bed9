// SPDX-License-Identifier: Apache-2.0
// How messages lie in memory that this program was not compiled with, and that came from nobody who was: played from a
// recording, or received by a bridge.
#pragma once

#include <memory>
#include <string_view>

#include "cardan/messages/ros_schema.hpp"
#include "cardan/messages/type_layout.hpp"

namespace cardan {

/// The layout of a ROS 2 message that nobody wrote as a struct: the fields in their order, each at the next place that
/// its natural alignment allows; lists (also bounded ones, and such of messages that hold lists) are `shm::vector`s,
/// texts `shm::string`s, a text of 16-bit letters an `shm::vector` of them, fixed arrays lie in the struct. Constants
/// and default values are not part of it. Whoever makes it of the same definition gets the same hash. Where a C++
/// compiler lays the type out alike, that is also the hash of the C++ type.
/// Throws Error (Limit): it would be larger than a message can be. Any thread; never blocks.
[[nodiscard]] std::shared_ptr<const TypeLayout> layout_of_ros(const RosSchema& schema, std::string_view type_name);

/// The same of a `ros2msg` text; null: that makes no sense.
[[nodiscard]] std::shared_ptr<const TypeLayout> layout_of_definition(std::string_view type_name,
                                                                     std::string_view definition);

/// Whether both definitions have the same fields: names and types, down to the numbers. Bounds may differ: they do not
/// show on the wire.
[[nodiscard]] bool same_fields(const RosMessage& a, const RosMessage& b);

}  // namespace cardan
