// SPDX-License-Identifier: Apache-2.0
#include "src/messages/layout_cdr.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "src/messages/layout_walk.hpp"

namespace cardan {
namespace {

using Kind = TypeLayout::Kind;

/// The largest vector of numbers of the struct, outside of types that write themselves. One that is an element of
/// another would not do: it may change between the look at its length and the next.
const shm::VectorBase* largest_vector(const TypeLayout& t, const std::byte* at, std::size_t& bytes) {
  if (t.write_cdr != nullptr || !t.in_payload) return nullptr;
  if (t.kind == Kind::Vector) {
    const auto* vector = reinterpret_cast<const shm::VectorBase*>(at);
    const std::size_t here = vector->element_count() * t.element->size;
    if (!detail::is_plain_number(*t.element) || here <= bytes) return nullptr;
    bytes = here;
    return vector;
  }
  const shm::VectorBase* largest = nullptr;
  const auto look = [&](const TypeLayout& inner, const std::byte* where) {
    if (const auto* found = largest_vector(inner, where, bytes)) largest = found;
  };
  if (t.kind == Kind::Array)
    for (std::size_t i = 0; i < t.count; ++i) look(*t.element, at + i * t.element->size);
  if (t.kind == Kind::Message)
    for (const TypeLayout::Field& f : t.fields) look(*f.type, at + f.offset);
  return largest;
}

/// Writes one message. The struct is a copy of ours whose vectors have been checked; vectors that are elements of
/// others are checked here, where they are read.
class Framer {
 public:
  /// `payload`: null of a message that is all our own, where nothing has to be checked.
  Framer(CdrWriter& writer, const std::byte* payload, std::size_t payload_bytes) noexcept
      : writer_(writer), payload_(payload), payload_bytes_(payload_bytes), left_(payload_bytes) {}

  /// False: a vector lies elsewhere. `own`: it is in the struct.
  bool value(const TypeLayout& t, const std::byte* at, bool own) {
    if (t.write_cdr != nullptr) {
      t.write_cdr(writer_, at);
      return true;
    }
    switch (t.kind) {
      case Kind::Bool:
        writer_.boolean(*reinterpret_cast<const bool*>(at));
        return true;
      case Kind::Integer:
      case Kind::Float:
      case Kind::Enum:
        detail::with_number_of(t.size, [&](auto value) {
          std::memcpy(&value, at, sizeof value);
          writer_.number(value);
        });
        return true;
      case Kind::Array:
        return list(*t.element, at, t.count, own, nullptr);
      case Kind::FixedString:
        writer_.string({reinterpret_cast<const char*>(at) + sizeof(std::uint32_t),
                        std::min<std::size_t>(detail::count_at(at), t.count)});
        return true;
      case Kind::FixedVector: {
        const std::size_t count = std::min<std::size_t>(detail::count_at(at), t.count);
        writer_.count(count);
        return list(*t.element, at + detail::first_of_fixed(t), count, own, nullptr);
      }
      case Kind::String:
      case Kind::WString:
      case Kind::Vector:
        return vector(t, *reinterpret_cast<const shm::VectorBase*>(at), own);
      case Kind::Message:
        if (t.fields.empty()) writer_.number(static_cast<std::uint8_t>(*at));  // ROS gives it a byte
        return std::all_of(t.fields.begin(), t.fields.end(),
                           [&](const TypeLayout::Field& f) { return value(*f.type, at + f.offset, own); });
      default:
        return false;
    }
  }

 private:
  bool vector(const TypeLayout& t, const shm::VectorBase& vector, bool own) {
    shm::VectorBase::Elements all{};
    if (own || payload_ == nullptr)
      all = {static_cast<const std::byte*>(vector.elements()), vector.element_count()};
    else if (!vector.find_elements(payload_, payload_bytes_, detail::element_bytes(t), detail::element_alignment(t),
                                   all))
      return false;
    // Honest vectors do not overlap, so a small payload makes no large message.
    if (all.count > left_ / detail::element_bytes(t)) return false;
    left_ -= all.count * detail::element_bytes(t);
    if (t.kind == Kind::String) {
      writer_.string({reinterpret_cast<const char*>(all.first), all.count});
      return true;
    }
    writer_.count(all.count);
    if (t.kind == Kind::Vector) return list(*t.element, all.first, all.count, false, own ? &vector : nullptr);
    // WideForm::FourBytes: the one that every ROS 2 reads.
    const auto* const letters = reinterpret_cast<const char16_t*>(all.first);
    for (std::size_t i = 0; i < all.count; ++i) writer_.number(static_cast<std::uint32_t>(letters[i]));
    return true;
  }

  /// `vector`: whose elements they are, which may be the payload; or null.
  bool list(const TypeLayout& element, const std::byte* at, std::size_t count, bool own, const void* vector) {
    if (detail::is_plain_number(element)) {
      detail::with_number_of(element.size, [&](auto value) {
        const auto* const first = reinterpret_cast<const decltype(value)*>(at);
        if (vector != nullptr)
          writer_.payload_or_numbers(vector, first, count);
        else
          writer_.numbers(first, count);
      });
      return true;
    }
    for (std::size_t i = 0; i < count; ++i)
      if (!value(element, at + i * element.size, own)) return false;
    return true;
  }

  CdrWriter& writer_;
  const std::byte* payload_;
  std::size_t payload_bytes_, left_;
};

bool frame(const TypeLayout& type, const std::byte* message, const std::byte* payload, std::size_t payload_bytes,
           CdrFrame& out) {
  std::size_t bytes = 0;
  const shm::VectorBase* largest = largest_vector(type, message, bytes);
  out.payload = {};
  if (largest != nullptr) out.payload = {static_cast<const std::byte*>(largest->elements()), bytes};
  CdrWriter writer(out.prefix, out.suffix, largest);
  return Framer(writer, payload, payload_bytes).value(type, message, true);
}

constexpr std::size_t kVeryMuch = std::size_t{1} << 40;  // more than there can be; sums of it do not overflow

std::size_t times(std::size_t a, std::size_t b) noexcept { return b != 0 && a > kVeryMuch / b ? kVeryMuch : a * b; }

/// Vectors that the struct has itself, not those of their elements.
std::size_t vectors_in(const TypeLayout& t) noexcept {
  if (!t.in_payload) return 0;
  if (detail::is_vector(t)) return 1;
  if (t.kind == Kind::Array) return times(t.count, vectors_in(*t.element));
  std::size_t sum = 0;
  for (const TypeLayout::Field& f : t.fields) sum = std::min(sum + vectors_in(*f.type), kVeryMuch);
  return sum;
}

/// The most memory that elements, of vectors in vectors too, make of this many bytes on the wire. The bytes of an
/// element but for what its own vectors hold are its alone, so no mixture needs more than the kind of vector that grows
/// most.
std::size_t most_of_elements(const TypeLayout& t, std::size_t cdr_bytes) noexcept {
  if (!t.in_payload) return 0;
  if (t.kind == Kind::Array) return most_of_elements(*t.element, cdr_bytes);
  if (t.kind == Kind::String || t.kind == Kind::WString) return cdr_bytes;
  std::size_t most = 0;
  for (const TypeLayout::Field& f : t.fields) most = std::max(most, most_of_elements(*f.type, cdr_bytes));
  if (t.kind != Kind::Vector) return most;
  const std::size_t each = t.element->size + times(vectors_in(*t.element), detail::kNestedAlignment);
  return std::max(times(cdr_bytes / detail::least_cdr_bytes(*t.element) + 1, each),
                  most_of_elements(*t.element, cdr_bytes));
}

}  // namespace

bool adopt(const TypeLayout& type, std::byte* copy, const std::byte* shared,
           std::span<const std::byte> payload) noexcept {
  bool ok = true;
  std::size_t left = payload.size();  // honest vectors do not overlap, so a small payload makes no large message
  detail::for_each_vector_in(type, copy, [&](shm::VectorBase& vector, const TypeLayout& t) {
    const auto* const original = shared + (reinterpret_cast<const std::byte*>(&vector) - copy);
    // All of them are visited, also after a bad one: none may keep an unchecked offset.
    if (!vector.adopt_from(reinterpret_cast<const shm::VectorBase*>(original), payload.data(), payload.size(),
                           detail::element_bytes(t), detail::element_alignment(t)))
      ok = false;
    const std::size_t bytes = vector.element_count() * detail::element_bytes(t);
    if (bytes > left) ok = false;
    left -= std::min(bytes, left);
  });
  return ok;
}

void bind(const TypeLayout& type, std::byte* message, shm::Arena& arena) noexcept {
  arena.reset();
  detail::for_each_vector_in(type, message, [&](shm::VectorBase& vector, const TypeLayout&) { vector.bind_to(arena); });
}

void frame_cdr(const TypeLayout& type, const std::byte* message, CdrFrame& out) {
  // Our own: its vectors may lie anywhere, and none of them lies.
  (void)frame(type, message, nullptr, std::numeric_limits<std::size_t>::max(), out);
}

bool frame_cdr(const TypeLayout& type, const std::byte* message, std::span<const std::byte> payload, CdrFrame& out) {
  static constexpr std::byte kNowhere{};
  return frame(type, message, payload.empty() ? &kNowhere : payload.data(), payload.size(), out);
}

std::size_t most_payload_bytes(const TypeLayout& type, std::size_t cdr_bytes) noexcept {
  const std::size_t vectors = vectors_in(type), most = most_of_elements(type, cdr_bytes);
  const std::size_t large = std::min(vectors, most / detail::kLargeList);
  return most + times(vectors, shm::Arena::kAlignment) + times(large, detail::kLargeAlignment);
}

}  // namespace cardan
