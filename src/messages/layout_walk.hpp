// SPDX-License-Identifier: Apache-2.0
// Common parts of writing and reading the CDR form of messages of any layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cardan/shm_vector.hpp"
#include "cardan/type_layout.hpp"

namespace cardan::detail {

inline bool is_plain_number(const TypeLayout& t) noexcept {
  return t.kind == Kind::Integer || t.kind == Kind::Float || t.kind == Kind::Enum;
}

/// A vector or a string; its elements lie in the payload.
inline bool is_vector(const TypeLayout& t) noexcept {
  return t.kind == Kind::Vector || t.kind == Kind::String || t.kind == Kind::WString;
}
inline std::size_t element_bytes(const TypeLayout& vector) noexcept {
  if (vector.kind == Kind::Vector) return vector.element->size;
  return vector.kind == Kind::String ? sizeof(char) : sizeof(char16_t);
}
inline std::size_t element_alignment(const TypeLayout& vector) noexcept {
  return vector.kind == Kind::Vector ? vector.element->alignment : element_bytes(vector);
}

/// Where the elements of a FixedVector start: after its count.
inline std::size_t first_of_fixed(const TypeLayout& t) noexcept {
  const std::size_t to = t.element->alignment;
  return (sizeof(std::uint32_t) + to - 1) / to * to;
}

inline std::uint32_t count_at(const std::byte* at) noexcept {
  std::uint32_t count = 0;
  std::memcpy(&count, at, sizeof count);
  return count;
}

/// Calls `use` with an unsigned integer of the number's size. On the wire only the size matters.
template <class Use>
auto with_number_of(std::size_t size, Use&& use) {
  switch (size) {
    case 1:
      return use(std::uint8_t{});
    case 2:
      return use(std::uint16_t{});
    case 4:
      return use(std::uint32_t{});
    default:
      return use(std::uint64_t{});
  }
}

/// Calls `use(vector, its type)` for all vectors and strings of the struct, in the order of the fields, but not for
/// those that are elements of other vectors.
template <class Byte, class Use>
void for_each_vector_in(const TypeLayout& t, Byte* at, Use&& use) {
  using Vector = std::conditional_t<std::is_const_v<Byte>, const shm::VectorBase, shm::VectorBase>;
  if (!t.in_payload) return;
  if (is_vector(t)) {
    use(*reinterpret_cast<Vector*>(at), t);
  } else if (t.kind == Kind::Array) {
    for (std::size_t i = 0; i < t.count; ++i) for_each_vector_in(*t.element, at + i * t.element->size, use);
  } else {
    for (const TypeLayout::Field& f : t.fields) for_each_vector_in(*f.type, at + f.offset, use);
  }
}

/// The fewest bytes that a value can take on the wire, without alignment gaps; at least 1.
inline std::size_t least_cdr_bytes(const TypeLayout& t) noexcept {
  if (t.least_cdr != 0) return t.least_cdr;
  if (t.kind == Kind::Bool || is_plain_number(t)) return t.size;
  if (t.kind == Kind::Array) return t.count * least_cdr_bytes(*t.element);
  if (t.kind != Kind::Message) return 4;
  std::size_t sum = 0;
  for (const TypeLayout::Field& f : t.fields) sum += least_cdr_bytes(*f.type);
  return sum == 0 ? 1 : sum;
}

/// Alignment of the pieces of the arena. Vectors that are elements of other vectors are many and small; a large list
/// starts where a disk can take it from.
inline constexpr std::uint64_t kNestedAlignment = 8;
inline constexpr std::uint64_t kLargeAlignment = 4096;
inline constexpr std::size_t kLargeList = 64 * 1024;

/// Resizes a vector or string of a message that is being filled. New messages in it are zeroed, and their vectors are
/// bound. `nested`: it lies in the payload. Returns false if there is no room.
inline bool make_room(const TypeLayout& t, shm::VectorBase& to, std::size_t count, bool nested) noexcept {
  const std::size_t each = element_bytes(t);
  const bool large = !nested && count >= kLargeList / each;
  const std::uint64_t piece = nested ? kNestedAlignment : shm::Arena::kAlignment;
  if (!(large && to.try_resize_elements(count, each, kLargeAlignment)) && !to.try_resize_elements(count, each, piece))
    return false;
  if (count == 0 || t.kind != Kind::Vector || is_plain_number(*t.element)) return true;
  auto* const first = static_cast<std::byte*>(to.elements());
  std::memset(first, 0, count * each);
  if (!t.element->in_payload) return true;
  for (std::size_t i = 0; i < count; ++i)
    for_each_vector_in(*t.element, first + i * each,
                       [&](shm::VectorBase& inner, const TypeLayout&) { inner.bind_to(*to.storage()); });
  return true;
}

}  // namespace cardan::detail
