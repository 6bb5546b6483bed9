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

struct Preview {
  enum class Kind : std::uint8_t { Picture, Points };
  Kind kind = Kind::Picture;
  std::uint32_t most = 0;  ///< pixels of the picture's longer side, or points
  auto operator<=>(const Preview&) const = default;
};

/// The preview nearest to a client's wish: of few sizes, so that many clients share what is made for one. Empty: an
/// unknown kind. Any thread; does not block.
[[nodiscard]] std::optional<Preview> preview_named(std::string_view kind, std::uint32_t most) noexcept;
/// Whether messages of this type have such a preview.
[[nodiscard]] bool has_preview(std::string_view type, Preview::Kind kind) noexcept;
/// Whether any preview can be made of the type.
[[nodiscard]] bool has_preview(std::string_view type) noexcept;
/// Whether this build codes pictures.
[[nodiscard]] bool makes_pictures() noexcept;

/// A preview of a message: `u32 length, JSON, bytes`. The JSON has what is left of the message's fields, and "shown":
/// what the bytes are. A message whose parts do not fit together becomes "problem", a word, and no bytes. The message
/// may be hostile: what it costs is bounded by the preview, whatever sizes it claims. Any thread. Does not block, but
/// takes some milliseconds. Throws std::bad_alloc alone.
[[nodiscard]] std::vector<std::byte> preview_of(const OutgoingFrame& frame, const Preview& preview);

}  // namespace cardan::bridge::foxglove
