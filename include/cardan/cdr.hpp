// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cardan/cdr_reader.hpp"
#include "cardan/cdr_writer.hpp"
#include "cardan/message.hpp"

/// \file
/// Conversion of every message from and to its ROS 2 wire form (XCDR1 little-endian), derived from CARDAN_MESSAGE.

namespace cardan {

/// For a type whose ROS form differs from its fields. A specialization has these members:
/// - `static void write(CdrWriter&, const T&)`
/// - `static bool read(CdrReader&, T&) noexcept`, which returns false after `reader.fail`
/// - `static constexpr std::size_t kLeastBytes`: the fewest bytes on the wire, if that is more than 4
template <class T>
struct CdrForm;

/// A message's CDR form in three consecutive parts. The payload is the message's largest vector of numbers (an image's
/// pixels); it stays where it is and is not copied. `prefix` and `suffix` are reused when the same frame is filled
/// again.
struct CdrFrame {
  std::vector<std::byte> prefix;       ///< the bytes before the payload, with the 4 bytes of the encoding
  std::span<const std::byte> payload;  ///< valid as long as the message; empty if it has no vector of numbers
  std::vector<std::byte> suffix;       ///< the bytes after the payload

  /// Bytes of the three parts together.
  [[nodiscard]] std::size_t size() const noexcept { return prefix.size() + payload.size() + suffix.size(); }
  /// The three parts in one piece. Allocates.
  [[nodiscard]] std::vector<std::byte> joined() const {
    std::vector<std::byte> all;
    all.reserve(size());
    all.insert(all.end(), prefix.begin(), prefix.end());
    all.insert(all.end(), payload.begin(), payload.end());
    all.insert(all.end(), suffix.begin(), suffix.end());
    return all;
  }
};

namespace detail {

template <class T>
concept HasCdrForm = requires(CdrReader& reader, T& value) { CdrForm<T>::read(reader, value); };

/// Numbers whose bytes on the wire equal those in memory. A bool does not qualify: only 0 and 1 are valid there.
template <class T>
inline constexpr bool is_number =
    kind_of<T>() == Kind::Integer || kind_of<T>() == Kind::Float || kind_of<T>() == Kind::Enum;

template <class T, class F, Literal Name, auto... Members, std::size_t... Offsets, Literal... Names>
constexpr bool all_fields(T& message, F&& f,
                          Reflection<std::remove_const_t<T>, Name, Field<Names, Members, Offsets>...>) {
  return (f(Names.view(), message.*Members) && ...);
}

template <class T>
void write_value(CdrWriter& writer, const T& value) {
  constexpr Kind kind = kind_of<T>();
  if constexpr (kind == Kind::Bool) {
    writer.boolean(value);
  } else if constexpr (is_number<T>) {
    writer.number(value);
  } else if constexpr (kind == Kind::Array) {
    using Element = std::remove_reference_t<decltype(value[0])>;
    if constexpr (is_number<std::remove_const_t<Element>>) {
      writer.numbers(&value[0], sizeof(T) / sizeof(Element));
    } else {
      for (const auto& element : value) write_value(writer, element);
    }
  } else if constexpr (kind == Kind::FixedString || kind == Kind::String) {
    writer.string(value);
  } else if constexpr (kind == Kind::FixedVector || kind == Kind::Vector) {
    using Element = typename T::value_type;
    const std::size_t count = value.size();
    writer.count(count);
    if constexpr (is_number<Element> && kind == Kind::Vector) {
      writer.payload_or_numbers(&value, value.data(), count);
    } else if constexpr (is_number<Element>) {
      writer.numbers(value.data(), count);
    } else {
      for (std::size_t i = 0; i < count; ++i) write_value(writer, value[i]);
    }
  } else if constexpr (HasCdrForm<T>) {
    CdrForm<T>::write(writer, value);
  } else {
    for_each_field(value, [&](std::string_view, const auto& field) { write_value(writer, field); }, reflection_of<T>{});
  }
}

/// The fewest bytes that a value can take on the wire, without alignment gaps.
template <class T>
consteval std::size_t least_bytes();

template <class T, Literal Name, auto... Members, std::size_t... Offsets, Literal... Names>
consteval std::size_t least_bytes_of_fields(Reflection<T, Name, Field<Names, Members, Offsets>...>) {
  return (least_bytes<std::remove_reference_t<decltype(std::declval<T&>().*Members)>>() + ...);
}

template <class T>
consteval std::size_t least_bytes() {
  constexpr Kind kind = kind_of<T>();
  if constexpr (kind == Kind::Bool || is_number<T>) {
    return sizeof(T);
  } else if constexpr (kind == Kind::Array) {
    return ArrayOf<T>::count * least_bytes<typename ArrayOf<T>::element>();
  } else if constexpr (kind == Kind::Message && !HasCdrForm<T>) {
    return least_bytes_of_fields(reflection_of<T>{});
  } else if constexpr (requires { CdrForm<T>::kLeastBytes; }) {
    return CdrForm<T>::kLeastBytes;
  } else {
    return 4;  // at least a length
  }
}

template <class T>
bool read_value(CdrReader& reader, T& value) noexcept {
  constexpr Kind kind = kind_of<T>();
  if constexpr (kind == Kind::Bool) {
    return reader.boolean(value);
  } else if constexpr (is_number<T>) {
    return reader.number(value);
  } else if constexpr (kind == Kind::Array) {
    using Element = std::remove_reference_t<decltype(value[0])>;
    if constexpr (is_number<Element>) {
      return reader.numbers(&value[0], sizeof(T) / sizeof(Element));
    } else {
      return std::all_of(std::begin(value), std::end(value),
                         [&](auto& element) { return read_value(reader, element); });
    }
  } else if constexpr (kind == Kind::FixedString) {
    std::string_view text;
    return reader.string(text) && (value.assign(text) || reader.fail(CdrError::TooLong));
  } else if constexpr (kind == Kind::String) {
    std::string_view text;
    return reader.string(text) && (value.try_assign(text) || reader.fail(CdrError::NoRoom));
  } else if constexpr (kind == Kind::FixedVector || kind == Kind::Vector) {
    using Element = typename T::value_type;
    std::size_t count = 0;
    if (!reader.count(count, least_bytes<Element>())) return false;
    if constexpr (kind == Kind::FixedVector) {
      value.clear();
      if (!value.resize(count)) return reader.fail(CdrError::TooLong);
    } else if constexpr (is_number<Element>) {
      if (!value.try_resize_for_overwrite(count)) return reader.fail(CdrError::NoRoom);
    } else {
      value.clear();
      if (!value.try_resize(count)) return reader.fail(CdrError::NoRoom);
    }
    if constexpr (is_number<Element>) {
      return reader.numbers(value.data(), count);
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        if (!read_value(reader, value[i])) return false;
      }
      return true;
    }
  } else if constexpr (HasCdrForm<T>) {
    return CdrForm<T>::read(reader, value);
  } else {
    return all_fields(
        value,
        [&](std::string_view name, auto& field) {
          reader.enter(name);
          return read_value(reader, field);
        },
        reflection_of<T>{});
  }
}

/// The largest vector of numbers among those that were considered.
struct LargestVector {
  const void* vector = nullptr;
  std::span<const std::byte> bytes{};

  template <class V>
  void consider(const V& one) noexcept {
    if constexpr (kind_of<V>() == Kind::Vector) {
      if constexpr (is_number<typename V::value_type>)
        if (one.size_bytes() > bytes.size()) *this = {&one, std::as_bytes(one.span())};
    }
  }
};

}  // namespace detail

/// Fills `out` with the CDR form of `message`. The payload of `out` points into the message and is not copied. Throws
/// `cardan::Error` (Limit) for a list of more than 2^32 − 1 elements, and `std::bad_alloc`.
/// Thread safety: any number of threads may read one message, each with its own frame. Never blocks; allocates until
/// the buffers have reached the largest size needed.
template <Message T>
void frame_cdr(const T& message, CdrFrame& out) {
  detail::LargestVector largest;
  if constexpr (!detail::HasCdrForm<T>)
    detail::for_each_vector(message, [&](const auto& one, std::size_t, std::size_t) { largest.consider(one); });
  out.payload = largest.bytes;
  CdrWriter writer(out.prefix, out.suffix, largest.vector);
  detail::write_value(writer, message);
}

/// The CDR form of `message` in one piece, copied. Otherwise as `frame_cdr`.
template <Message T>
[[nodiscard]] std::vector<std::byte> to_cdr(const T& message) {
  CdrFrame frame;
  frame_cdr(message, frame);
  std::vector<std::byte> bytes;
  bytes.reserve(frame.size());
  bytes.insert(bytes.end(), frame.prefix.begin(), frame.prefix.end());
  bytes.insert(bytes.end(), frame.payload.begin(), frame.payload.end());
  bytes.insert(bytes.end(), frame.suffix.begin(), frame.suffix.end());
  return bytes;
}

/// Fills `message`, a fresh loan or a `LocalMessage`, from CDR bytes that may be hostile. Returns false with the reason
/// (`text()`) if they are not a `T` or do not fit; the message is then valid, but must not be used.
/// Thread safety: none. Never throws, allocates or blocks.
template <Message T>
[[nodiscard]] CdrResult from_cdr(std::span<const std::byte> bytes, T& message) noexcept {
  CdrReader reader(bytes);
  if (!reader.failed()) detail::read_value(reader, message);
  return reader.finish();
}

}  // namespace cardan
