// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cardan/arena.hpp"
#include "cardan/type_layout.hpp"

namespace cardan::apps {

/// Fills a zeroed and bound message (`arena`: its storage, null if it has none) from its fields by name, as decode()
/// shows them. Fields that are left out stay zero, false or empty; null is the float that is not a number. Returns
/// false if the arena has no room. Throws Error (InvalidArgument) that names the field, and the names that there are.
[[nodiscard]] bool encode(const TypeLayout& type, const nlohmann::ordered_json& message, std::byte* at);

/// The payload bytes that the message needs. Throws as encode(), and Error (Limit) if it would need more than
/// kMostEncodedBytes: a short text can ask for many large elements.
[[nodiscard]] std::size_t encoded_payload(const TypeLayout& type, const nlohmann::ordered_json& message);
inline constexpr std::size_t kMostEncodedBytes = std::size_t{256} << 20;

/// A message with all fields as encode() leaves them: zero, false or empty.
[[nodiscard]] nlohmann::ordered_json empty_message(const TypeLayout& type);

}  // namespace cardan::apps
