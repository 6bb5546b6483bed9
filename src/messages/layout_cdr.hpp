// SPDX-License-Identifier: Apache-2.0
// The ROS 2 wire form of messages whose type is known only at run time. Recorders, players and bridges use it, which
// are compiled only with Cardan's own types.
#pragma once

#include <cstddef>
#include <span>

#include "cardan/arena.hpp"
#include "cardan/cdr.hpp"
#include "cardan/type_layout.hpp"

namespace cardan {

/// As `shm::adopt`. `copy`, of `type.size` bytes, is a private copy of the fixed struct at `shared`. Afterwards its
/// vectors point to their elements in the payload. Returns false if one of them lies elsewhere; do not use the message
/// then.
/// Any thread; never blocks, allocates nothing.
[[nodiscard]] bool adopt(const TypeLayout& type, std::byte* copy, const std::byte* shared,
                         std::span<const std::byte> payload) noexcept;

/// As `shm::bind`, on the zeroed struct of a new message: its vectors take their elements from `arena`.
void bind(const TypeLayout& type, std::byte* message, shm::Arena& arena) noexcept;

/// As `frame_cdr(message, out)`, with the same bytes. `message` is one of this process's own. Throws `cardan::Error`
/// (Limit) for a list of more than 2^32 − 1 elements, and `std::bad_alloc`.
/// Never blocks.
void frame_cdr(const TypeLayout& type, const std::byte* message, CdrFrame& out);
/// The same for an adopted copy of a foreign message. Returns false if a vector that is an element of another one lies
/// outside the payload; do not use `out` then.
[[nodiscard]] bool frame_cdr(const TypeLayout& type, const std::byte* message, std::span<const std::byte> payload,
                             CdrFrame& out);

/// As `from_cdr(bytes, message)`, into a zeroed and bound message. A list of numbers of 64 KiB or more starts on a
/// 4096-byte boundary of the payload, if there is room. The field that the result names lives as long as `type`.
/// Thread safety: none. Never throws, allocates or blocks.
[[nodiscard]] CdrResult from_cdr(const TypeLayout& type, std::span<const std::byte> bytes, std::byte* message) noexcept;
/// The same from bytes in pieces, with the same result. Each byte is copied once, from its piece into the message. It
/// allocates only for a short text (a FixedString of a type with its own form) that lies in two pieces.
[[nodiscard]] CdrResult from_cdr(const TypeLayout& type, CdrPieces bytes, std::byte* message) noexcept;

/// The same of bytes that frame_cdr() has made, into a message that is an element of a list: it does not begin again
/// with another form of texts, which would give up the elements.
[[nodiscard]] CdrResult from_framed_cdr(const TypeLayout& type, CdrPieces bytes, std::byte* element) noexcept;

/// The largest payload (`TopicOptions::max_bytes`) that a message with `cdr_bytes` bytes of CDR can need. Where
/// elements are larger in memory than on the wire (padding, FixedStrings), most messages need less.
/// Any thread; never blocks.
[[nodiscard]] std::size_t most_payload_bytes(const TypeLayout& type, std::size_t cdr_bytes) noexcept;

}  // namespace cardan
