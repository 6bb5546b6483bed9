// SPDX-License-Identifier: Apache-2.0
// How objects that do not lie in memory as their type says are encoded: what a publisher's type says of it, in the
// words of MCAP. Any thread; nothing blocks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "cardan/detail/encoded.hpp"

namespace cardan::detail {

/// The encoding of objects of a codec that is not Protobuf's.
inline constexpr const char* kOwnCodec = "cardan-codec";

/// MCAP's name of the encoding that a codec of that schema makes: "protobuf" if the schema is one of Protobuf's.
[[nodiscard]] inline const char* codec_encoding(const std::string& schema) noexcept {
  // A FileDescriptorSet starts with its first file: field 1, of a length that follows.
  return schema.starts_with('\n') ? "protobuf" : kOwnCodec;
}

/// The hash of a type whose messages are texts in JSON; no codec's type has it.
[[nodiscard]] constexpr std::uint64_t json_hash(std::string_view name) {
  LayoutHash hash;
  hash.add("encoded");
  hash.add("json");
  hash.add(name);
  return hash.value;
}

/// The message type of JSON texts that a JSON Schema describes.
[[nodiscard]] inline MessageType json_type(std::string name, std::string schema) {
  MessageType type = encoded_type(std::move(name), std::move(schema));
  type.hash = json_hash(type.name);
  return type;
}

/// "protobuf", "json" or kOwnCodec; null: it is not an encoding, but a layout in memory.
[[nodiscard]] inline const char* encoding_of(const std::string& type, std::uint64_t hash, const std::string& schema) {
  LayoutHash encoded;
  encoded.add("encoded");
  encoded.add(type);
  if (hash == encoded.value) return codec_encoding(schema);
  return hash == json_hash(type) ? "json" : nullptr;
}

}  // namespace cardan::detail
