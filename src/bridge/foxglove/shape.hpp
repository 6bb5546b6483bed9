// SPDX-License-Identifier: Apache-2.0
// A page's form of large messages: a small picture of an image, some points of a cloud. Others get the messages.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/bridge/outgoing_topic.hpp"

namespace cardan::bridge::foxglove {

struct Shape {
  enum class Kind : std::uint8_t { Picture, Points };
  Kind kind = Kind::Picture;
  std::uint32_t most = 0;  ///< pixels of the picture's longer side, or points
  auto operator<=>(const Shape&) const = default;
};

/// The shape nearest to a client's wish: of few sizes, so that many clients share what is made for one. Empty: there
/// is no such kind. Any thread; does not block.
[[nodiscard]] std::optional<Shape> shape_named(std::string_view kind, std::uint32_t most) noexcept;
/// Whether messages of this type have the shape.
[[nodiscard]] bool has_shape(std::string_view type, Shape::Kind kind) noexcept;
/// Whether any shape can be made of the type.
[[nodiscard]] bool has_shape(std::string_view type) noexcept;
/// Whether this build codes pictures.
[[nodiscard]] bool makes_pictures() noexcept;

/// A message in a shape: `u32 length, JSON, bytes`. The JSON has what is left of the message's fields, and "shown":
/// what the bytes are. A message whose parts do not fit together becomes "problem", a word, and no bytes. The message
/// may be hostile: what it costs is bounded by the shape, whatever sizes it claims. Any thread. Does not block, but
/// takes some milliseconds. Throws std::bad_alloc alone.
[[nodiscard]] std::vector<std::byte> shaped(const OutgoingFrame& frame, const Shape& shape);

}  // namespace cardan::bridge::foxglove
