// SPDX-License-Identifier: Apache-2.0
// The ROS 2 wire form of messages whose type is known at run time only: for recorders, players and bridges, which are
// compiled with no type but Cardan's own.
#pragma once

#include <cstddef>
#include <span>

#include "cardan/messages/cdr.hpp"
#include "cardan/messages/type_layout.hpp"
#include "cardan/types/arena.hpp"

namespace cardan {

/// As `shm::adopt`: `copy`, of `type.size` bytes, is a private copy of the fixed struct at `shared`; its vectors point
/// to their elements in the payload afterwards. False: one of them lies elsewhere; a bad message, do not use it.
/// Any thread; never blocks, allocates nothing.
[[nodiscard]] bool adopt(const TypeLayout& type, std::byte* copy, const std::byte* shared,
                         std::span<const std::byte> payload) noexcept;

/// As `shm::bind`, on the zeroed struct of a message to be: its vectors take their elements from `arena`.
void bind(const TypeLayout& type, std::byte* message, shm::Arena& arena) noexcept;

/// As `frame_cdr(message, out)`: the same bytes. `message` is one of this process's own.
/// Throws `cardan::Error` (Limit) for a list of more than 2^32 − 1 elements, `std::bad_alloc`. Never blocks.
void frame_cdr(const TypeLayout& type, const std::byte* message, CdrFrame& out);
/// The same of an adopted copy of a message of others. False: a vector that is an element of another one lies outside
/// of the payload; a bad message, `out` is of no use.
[[nodiscard]] bool frame_cdr(const TypeLayout& type, const std::byte* message, std::span<const std::byte> payload,
                             CdrFrame& out);

/// As `from_cdr(bytes, message)`, into a zeroed and bound message. A list of numbers of 64 KiB and more begins on a
/// 4096-byte boundary of the payload, if there is room. The field that the result names lives as long as `type`.
/// Never throws, allocates or blocks. Thread safety: none.
[[nodiscard]] CdrResult from_cdr(const TypeLayout& type, std::span<const std::byte> bytes, std::byte* message) noexcept;

/// The most payload that a message can need (`TopicOptions::max_bytes`) whose CDR form has so many bytes. Where
/// elements are larger in memory than they may be on the wire (padding, FixedStrings), that is more than most messages
/// do need. Any thread; never blocks.
[[nodiscard]] std::size_t most_payload_bytes(const TypeLayout& type, std::size_t cdr_bytes) noexcept;

}  // namespace cardan
