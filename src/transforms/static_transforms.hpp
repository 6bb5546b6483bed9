// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "cardan/messages/transforms.hpp"

namespace cardan::detail {

/// 2116: sums with a history do not overflow.
inline constexpr std::int64_t kMostStamp = std::int64_t{1} << 62;

/// A place that never changes, checked. Throws Error (InvalidArgument).
[[nodiscard]] TransformStamped static_transform(std::string_view parent, std::string_view child,
                                                const Transform& place);

/// The topic with room for this number of places in a message. A publisher has memory for all its slots from the
/// beginning, so it asks for no more than it needs.
[[nodiscard]] constexpr Topic<TransformMessage> with_room_for(const Topic<TransformMessage>& topic,
                                                              std::size_t places) {
  Topic<TransformMessage> sized = topic;
  sized.options.max_bytes = places * sizeof(TransformStamped) + alignof(TransformStamped);
  return sized;
}

/// False: they do not fit.
[[nodiscard]] bool fill(TransformMessage& message, std::span<const TransformStamped> transforms) noexcept;

}  // namespace cardan::detail
