// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cardan {

/// A message type as data. `message_type_of(layout, schema)` makes one (cardan/type_layout.hpp). Its hash must
/// be the hash of the layout in which the messages are filled, because subscribers compare nothing else.
struct AnyMessageType {
  std::string name;    ///< as in ROS 2: "sensor_msgs/msg/Image"
  std::string schema;  ///< ros2msg text
  std::uint64_t hash;  ///< of the layout
  std::size_t bytes;   ///< of the fixed struct
  std::size_t alignment;
  bool has_arena;  ///< it has vectors or strings: an arena precedes it, and subscribers get a checked copy of the
                   ///< fixed struct
  std::size_t arena_bytes;
};

namespace detail {

using MessageType = AnyMessageType;

/// For a reader that takes samples as they were published, and copies and checks what it needs.
[[nodiscard]] inline MessageType as_published(MessageType type) {
  type.has_arena = false;
  type.arena_bytes = 0;
  return type;
}

/// Allocates.
[[nodiscard]] MessageType make_message_type(std::string_view name, std::string_view schema, std::uint64_t hash,
                                            std::size_t bytes, std::size_t alignment, bool has_arena);

/// message_type_of() a message of the library; src/messages/standard_messages.cpp defines it.
template <class T>
[[nodiscard]] MessageType standard_message_type();

}  // namespace detail
}  // namespace cardan
