// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cardan/error.hpp"

namespace cardan {

static_assert(std::endian::native == std::endian::little, "Cardan writes XCDR1 little-endian from native memory");

/// Writes XCDR1 little-endian (what ROS 2 puts on the wire and into bags). Each number is aligned to its size, counted
/// from the byte after the 4 bytes that name the encoding. One vector of the message, the payload, is left out: what
/// follows it goes into a second buffer.
/// Thread safety: none. Never blocks; allocates while its buffers grow.
class CdrWriter {
 public:
  /// `payload`: the address of the `shm::vector` whose elements are left out, or null.
  CdrWriter(std::vector<std::byte>& prefix, std::vector<std::byte>& suffix, const void* payload) noexcept
      : out_(&prefix), suffix_(&suffix), payload_(payload) {
    prefix.clear();
    suffix.clear();
    constexpr std::byte kLittleEndian[4] = {std::byte{0}, std::byte{1}, std::byte{0}, std::byte{0}};
    prefix.insert(prefix.end(), std::begin(kLittleEndian), std::end(kLittleEndian));
  }

  /// Writes one number, after the gap that aligns it to its size.
  template <class Number>
    requires(std::is_arithmetic_v<Number> || std::is_enum_v<Number>)
  void number(const Number& value) {
    align(sizeof(Number));
    raw(&value, sizeof(Number));
  }

  /// Writes one byte, 0 or 1.
  void boolean(const bool& value) {
    std::uint8_t byte = 0;
    std::memcpy(&byte, &value, 1);  // because another process may have stored any value there
    number(static_cast<std::uint8_t>(byte != 0 ? 1 : 0));
  }

  /// Writes the length of a text, its bytes, and a NUL.
  void string(std::string_view text) {
    count(text.size() + 1);
    raw(text.data(), text.size());
    number(std::uint8_t{0});
  }

  /// Writes the number of elements that follow. Throws Error (Limit) above 2^32 − 1.
  void count(std::size_t elements) {
    if (elements > std::numeric_limits<std::uint32_t>::max()) {
      throw Error(ErrorCode::Limit,
                  "a list of " + std::to_string(elements) + " elements has no CDR form (at most 4294967295)",
                  "send it in parts");
    }
    number(static_cast<std::uint32_t>(elements));
  }

  /// Writes consecutive numbers as they are in memory.
  template <class Number>
  void numbers(const Number* first, std::size_t elements) {
    if (elements == 0) return;
    align(sizeof(Number));
    raw(first, elements * sizeof(Number));
  }

  /// As `numbers`, for the vector at `owner`. If that is the payload, it is left out.
  template <class Number>
  void payload_or_numbers(const void* owner, const Number* first, std::size_t elements) {
    if (owner != payload_ || elements == 0) return numbers(first, elements);
    align(sizeof(Number));
    position_ += elements * sizeof(Number);
    out_ = suffix_;
    payload_ = nullptr;
  }

 private:
  void align(std::size_t to) {
    const std::size_t gap = (to - position_ % to) % to;
    out_->resize(out_->size() + gap);
    position_ += gap;
  }

  void raw(const void* bytes, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(bytes);
    if (size != 0) out_->insert(out_->end(), first, first + size);
    position_ += size;
  }

  std::vector<std::byte>* out_;
  std::vector<std::byte>* suffix_;
  const void* payload_;
  std::size_t position_ = 0;  // counted from the end of the encoding's 4 bytes
};

}  // namespace cardan
