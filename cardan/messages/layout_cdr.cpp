// SPDX-License-Identifier: Apache-2.0
#include "cardan/messages/layout_cdr.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace cardan {
namespace {

bool is_plain_number(const TypeLayout& t) {
  return t.kind == detail::Kind::Integer || t.kind == detail::Kind::Float || t.kind == detail::Kind::Enum;
}

/// Where the elements of a FixedVector begin: behind its count.
std::size_t first_of_fixed(const TypeLayout& t) {
  const std::size_t to = t.element->alignment;
  return (sizeof(std::uint32_t) + to - 1) / to * to;
}

std::uint32_t count_at(const std::byte* at) {
  std::uint32_t count = 0;
  std::memcpy(&count, at, sizeof count);
  return count;
}

/// Calls `use` with an unsigned integer of the number's size: on the wire only that matters.
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

/// Calls `use(vector, its type)` for all vectors and strings, in the order of the fields.
template <class Byte, class Use>
void for_each_vector_in(const TypeLayout& t, Byte* at, Use&& use) {
  using Vector = std::conditional_t<std::is_const_v<Byte>, const shm::VectorBase, shm::VectorBase>;
  switch (t.kind) {
    case detail::Kind::Vector:
    case detail::Kind::String:
      use(*reinterpret_cast<Vector*>(at), t);
      break;
    case detail::Kind::Array:
      for (std::size_t i = 0; i < t.count; ++i) for_each_vector_in(*t.element, at + i * t.element->size, use);
      break;
    case detail::Kind::Message:
      for (const TypeLayout::Field& f : t.fields) for_each_vector_in(*f.type, at + f.offset, use);
      break;
    default:
      break;
  }
}

std::size_t element_bytes(const TypeLayout& vector) {
  return vector.kind == detail::Kind::String ? 1 : vector.element->size;
}
std::size_t element_alignment(const TypeLayout& vector) {
  return vector.kind == detail::Kind::String ? 1 : vector.element->alignment;
}

/// The largest vector of numbers outside of types that write themselves.
const shm::VectorBase* largest_vector(const TypeLayout& t, const std::byte* at, std::size_t& bytes) {
  if (t.write_cdr != nullptr) return nullptr;
  if (t.kind == detail::Kind::Vector) {
    const auto* vector = reinterpret_cast<const shm::VectorBase*>(at);
    const std::size_t here = vector->element_count() * t.element->size;
    if (!is_plain_number(*t.element) || here <= bytes) return nullptr;
    bytes = here;
    return vector;
  }
  const shm::VectorBase* largest = nullptr;
  const auto look = [&](const TypeLayout& inner, const std::byte* where) {
    if (const auto* found = largest_vector(inner, where, bytes)) largest = found;
  };
  if (t.kind == detail::Kind::Array)
    for (std::size_t i = 0; i < t.count; ++i) look(*t.element, at + i * t.element->size);
  if (t.kind == detail::Kind::Message)
    for (const TypeLayout::Field& f : t.fields) look(*f.type, at + f.offset);
  return largest;
}

/// `vector`: whose elements they are, which may be the payload; or null.
void write_elements(CdrWriter& writer, const TypeLayout& element, const std::byte* at, std::size_t count,
                    const void* vector);

void write_at(CdrWriter& writer, const TypeLayout& t, const std::byte* at) {
  if (t.write_cdr != nullptr) return t.write_cdr(writer, at);
  switch (t.kind) {
    case detail::Kind::Bool:
      return writer.boolean(*reinterpret_cast<const bool*>(at));
    case detail::Kind::Integer:
    case detail::Kind::Float:
    case detail::Kind::Enum:
      return with_number_of(t.size, [&](auto value) {
        std::memcpy(&value, at, sizeof value);
        writer.number(value);
      });
    case detail::Kind::Array:
      return write_elements(writer, *t.element, at, t.count, nullptr);
    case detail::Kind::FixedString:
      return writer.string(
          {reinterpret_cast<const char*>(at) + sizeof(std::uint32_t), std::min<std::size_t>(count_at(at), t.count)});
    case detail::Kind::FixedVector: {
      const std::size_t count = std::min<std::size_t>(count_at(at), t.count);
      writer.count(count);
      return write_elements(writer, *t.element, at + first_of_fixed(t), count, nullptr);
    }
    case detail::Kind::String: {
      const auto* text = reinterpret_cast<const shm::VectorBase*>(at);
      return writer.string({static_cast<const char*>(text->elements()), text->element_count()});
    }
    case detail::Kind::Vector: {
      const auto* vector = reinterpret_cast<const shm::VectorBase*>(at);
      writer.count(vector->element_count());
      return write_elements(writer, *t.element, static_cast<const std::byte*>(vector->elements()),
                            vector->element_count(), vector);
    }
    case detail::Kind::Message:
      for (const TypeLayout::Field& f : t.fields) write_at(writer, *f.type, at + f.offset);
      return;
    default:
      return;
  }
}

void write_elements(CdrWriter& writer, const TypeLayout& element, const std::byte* at, std::size_t count,
                    const void* vector) {
  if (!is_plain_number(element)) {
    for (std::size_t i = 0; i < count; ++i) write_at(writer, element, at + i * element.size);
    return;
  }
  with_number_of(element.size, [&](auto value) {
    const auto* const first = reinterpret_cast<const decltype(value)*>(at);
    if (vector != nullptr)
      writer.payload_or_numbers(vector, first, count);
    else
      writer.numbers(first, count);
  });
}

/// The fewest bytes that a value can take on the wire, without gaps for alignment; at least 1.
std::size_t least_cdr_bytes(const TypeLayout& t) {
  if (t.kind == detail::Kind::Bool || is_plain_number(t)) return t.size;
  if (t.kind == detail::Kind::Array) return t.count * least_cdr_bytes(*t.element);
  if (t.read_cdr != nullptr) return t.least_cdr;
  if (t.kind != detail::Kind::Message) return 4;
  std::size_t sum = 0;
  for (const TypeLayout::Field& f : t.fields) sum += least_cdr_bytes(*f.type);
  return std::max<std::size_t>(sum, 1);
}

/// Adds what the vectors in it cost however short they are, and finds the most that one of them makes of so many bytes
/// on the wire.
void look_at_vectors(const TypeLayout& t, std::size_t cdr_bytes, std::size_t times, std::size_t& fixed,
                     std::size_t& most) noexcept {
  switch (t.kind) {
    case detail::Kind::Vector:
    case detail::Kind::String:
      fixed += times * shm::Arena::kAlignment;
      most = std::max(most, t.kind == detail::Kind::String
                                ? cdr_bytes
                                : (cdr_bytes / least_cdr_bytes(*t.element) + 1) * t.element->size);
      break;
    case detail::Kind::Array:
      look_at_vectors(*t.element, cdr_bytes, times * t.count, fixed, most);
      break;
    case detail::Kind::Message:
      for (const TypeLayout::Field& f : t.fields) look_at_vectors(*f.type, cdr_bytes, times, fixed, most);
      break;
    default:
      break;
  }
}

bool read_elements(CdrReader& reader, const TypeLayout& element, std::byte* at, std::size_t count) noexcept;

bool read_at(CdrReader& reader, const TypeLayout& t, std::byte* at) noexcept {
  if (t.read_cdr != nullptr) return t.read_cdr(reader, at);
  switch (t.kind) {
    case detail::Kind::Bool:
      return reader.boolean(*reinterpret_cast<bool*>(at));
    case detail::Kind::Integer:
    case detail::Kind::Float:
    case detail::Kind::Enum:
      return with_number_of(t.size, [&](auto value) {
        if (!reader.number(value)) return false;
        std::memcpy(at, &value, sizeof value);
        return true;
      });
    case detail::Kind::Array:
      return read_elements(reader, *t.element, at, t.count);
    case detail::Kind::FixedString: {
      std::string_view text;
      if (!reader.string(text)) return false;
      if (text.size() > t.count) return reader.fail(CdrError::TooLong);
      const auto count = static_cast<std::uint32_t>(text.size());
      std::memcpy(at, &count, sizeof count);
      if (count != 0) std::memcpy(at + sizeof count, text.data(), count);
      return true;
    }
    case detail::Kind::FixedVector: {
      std::size_t count = 0;
      if (!reader.count(count, least_cdr_bytes(*t.element))) return false;
      if (count > t.count) return reader.fail(CdrError::TooLong);
      const auto stored = static_cast<std::uint32_t>(count);
      std::memcpy(at, &stored, sizeof stored);
      return read_elements(reader, *t.element, at + first_of_fixed(t), count);
    }
    case detail::Kind::String: {
      std::string_view text;
      auto* to = reinterpret_cast<shm::VectorBase*>(at);
      if (!reader.string(text)) return false;
      if (!to->try_resize_elements(text.size(), 1)) return reader.fail(CdrError::NoRoom);
      if (!text.empty()) std::memcpy(to->elements(), text.data(), text.size());
      return true;
    }
    case detail::Kind::Vector: {
      std::size_t count = 0;
      auto* to = reinterpret_cast<shm::VectorBase*>(at);
      if (!reader.count(count, least_cdr_bytes(*t.element))) return false;
      if (!to->try_resize_elements(count, t.element->size)) return reader.fail(CdrError::NoRoom);
      if (count != 0 && !is_plain_number(*t.element)) std::memset(to->elements(), 0, count * t.element->size);
      return read_elements(reader, *t.element, static_cast<std::byte*>(to->elements()), count);
    }
    case detail::Kind::Message:
      return std::all_of(t.fields.begin(), t.fields.end(), [&](const TypeLayout::Field& f) {
        reader.enter(f.name);
        return read_at(reader, *f.type, at + f.offset);
      });
    default:
      return false;
  }
}

bool read_elements(CdrReader& reader, const TypeLayout& element, std::byte* at, std::size_t count) noexcept {
  if (is_plain_number(element))
    return with_number_of(element.size,
                          [&](auto value) { return reader.numbers(reinterpret_cast<decltype(value)*>(at), count); });
  for (std::size_t i = 0; i < count; ++i)
    if (!read_at(reader, element, at + i * element.size)) return false;
  return true;
}

}  // namespace

bool adopt(const TypeLayout& type, std::byte* copy, const std::byte* shared,
           std::span<const std::byte> payload) noexcept {
  bool ok = true;
  std::size_t left = payload.size();  // honest vectors do not overlap, so a small payload makes no large message
  for_each_vector_in(type, copy, [&](shm::VectorBase& vector, const TypeLayout& t) {
    const auto* const original = shared + (reinterpret_cast<const std::byte*>(&vector) - copy);
    // All of them are visited, also after a bad one: none may keep an unchecked offset.
    if (!vector.adopt_from(reinterpret_cast<const shm::VectorBase*>(original), payload.data(), payload.size(),
                           element_bytes(t), element_alignment(t)))
      ok = false;
    const std::size_t bytes = vector.element_count() * element_bytes(t);
    if (bytes > left) ok = false;
    left -= std::min(bytes, left);
  });
  return ok;
}

void bind(const TypeLayout& type, std::byte* message, shm::Arena& arena) noexcept {
  arena.reset();
  for_each_vector_in(type, message, [&](shm::VectorBase& vector, const TypeLayout&) { vector.bind_to(arena); });
}

void frame_cdr(const TypeLayout& type, const std::byte* message, CdrFrame& out) {
  std::size_t bytes = 0;
  const shm::VectorBase* largest = largest_vector(type, message, bytes);
  out.payload = {};
  if (largest != nullptr) out.payload = {static_cast<const std::byte*>(largest->elements()), bytes};
  CdrWriter writer(out.prefix, out.suffix, largest);
  write_at(writer, type, message);
}

CdrResult from_cdr(const TypeLayout& type, std::span<const std::byte> bytes, std::byte* message) noexcept {
  CdrReader reader(bytes);
  if (!reader.failed()) read_at(reader, type, message);
  return reader.finish();
}

std::size_t most_payload_bytes(const TypeLayout& type, std::size_t cdr_bytes) noexcept {
  // All vectors together have no more than those bytes, so no mixture needs more than the one whose elements grow most,
  // and a part of one of them.
  std::size_t fixed = 0, most = 0;
  look_at_vectors(type, cdr_bytes, 1, fixed, most);
  return most + fixed;
}

}  // namespace cardan
