// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace cardan {

/// Why bytes are not the CDR form of a type.
enum class CdrError {
  None,
  Encoding,   ///< the first bytes are neither 00 01 nor 00 00: not plain XCDR1
  Truncated,  ///< the bytes end within a field, or a list announces more elements than there are bytes
  BadText,    ///< a text without its final NUL
  TooLong,    ///< a text or a list is longer than the FixedString or FixedVector that takes it
  NoRoom,     ///< the message's storage is too small for its lists
  Trailing,   ///< bytes are left over: another type, or another version of it
};

/// The result of reading CDR: true, or the reason, with the byte and the field.
struct CdrResult {
  CdrError error = CdrError::None;
  std::size_t offset = 0;       ///< bytes from the start
  std::string_view field = {};  ///< innermost field; lives as long as the program

  explicit operator bool() const noexcept { return error == CdrError::None; }

  /// Cause and remedy in words.
  [[nodiscard]] std::string text() const {
    const auto words = [this]() -> std::string_view {
      switch (error) {
        case CdrError::None:
          return "read";
        case CdrError::Encoding:
          return "not plain XCDR1 (the first bytes must be 00 00 or 00 01; XCDR2 and parameter lists are not read) — "
                 "convert it with a ROS 2 tool";
        case CdrError::Truncated:
          return "the bytes end too early — they are cut, or of another type";
        case CdrError::BadText:
          return "a text without its final NUL — the bytes are of another type";
        case CdrError::TooLong:
          return "a text or list is longer than this field holds — define the type with a larger bound";
        case CdrError::NoRoom:
          return "the message's storage is too small — raise max_bytes";
        case CdrError::Trailing:
          return "bytes are left over — they are of another type, or another version of it";
      }
      return "";
    };
    std::string out(words());
    if (error != CdrError::None) out += " (byte " + std::to_string(offset);
    if (error != CdrError::None && !field.empty()) out += ", field '" + std::string(field) + "'";
    return error != CdrError::None ? out + ")" : out;
  }
};

/// Reads XCDR1, of either byte order, from untrusted bytes: it checks every length against the remaining bytes before
/// using it. After the first failure every call returns false.
/// Thread safety: none. Never blocks, allocates or throws.
class CdrReader {
 public:
  explicit CdrReader(std::span<const std::byte> bytes) noexcept {
    if (bytes.size() < kEncodingBytes) {
      fail(CdrError::Truncated);
    } else if (bytes[0] != std::byte{0} || bytes[1] > std::byte{1}) {
      fail(CdrError::Encoding);
    } else {
      swapped_ = bytes[1] == std::byte{0};
      bytes_ = bytes.subspan(kEncodingBytes);
    }
  }

  template <class Number>
    requires(std::is_arithmetic_v<Number> || std::is_enum_v<Number>)
  bool number(Number& value) noexcept {
    if (!align(sizeof(Number)) || !require(sizeof(Number))) return false;
    std::memcpy(&value, bytes_.data() + position_, sizeof(Number));
    if (swapped_) swap_bytes(&value, 1);
    position_ += sizeof(Number);
    return true;
  }

  bool boolean(bool& value) noexcept {
    std::uint8_t byte = 0;
    if (!number(byte)) return false;
    value = byte != 0;
    return true;
  }

  /// A text within the input bytes, without its NUL.
  bool string(std::string_view& text) noexcept {
    std::uint32_t length = 0;
    if (!number(length) || !require(length)) return false;
    const char* first = reinterpret_cast<const char*>(bytes_.data() + position_);
    if (length != 0 && first[length - 1] != '\0') return fail(CdrError::BadText);
    text = length != 0 ? std::string_view(first, length - 1) : std::string_view();
    position_ += length;
    return true;
  }

  /// Reads the number of elements that follow. Each takes at least `least_bytes`, so a false number cannot make the
  /// caller prepare more elements than the input can hold.
  bool count(std::size_t& elements, std::size_t least_bytes) noexcept {
    std::uint32_t announced = 0;
    if (!number(announced)) return false;
    if (announced > (bytes_.size() - position_) / least_bytes) return fail(CdrError::Truncated);
    elements = announced;
    return true;
  }

  template <class Number>
  bool numbers(Number* first, std::size_t elements) noexcept {
    if (elements == 0) return !failed();
    if (!align(sizeof(Number)) || elements > (bytes_.size() - position_) / sizeof(Number))
      return fail(CdrError::Truncated);
    std::memcpy(first, bytes_.data() + position_, elements * sizeof(Number));
    if (swapped_) swap_bytes(first, elements);
    position_ += elements * sizeof(Number);
    return true;
  }

  /// A list of bytes within the input bytes.
  bool bytes(std::span<const std::byte>& list) noexcept {
    std::uint32_t length = 0;
    if (!number(length) || !require(length)) return false;
    list = bytes_.subspan(position_, length);
    position_ += length;
    return true;
  }

  /// Names the field that is read now, for the error.
  void enter(std::string_view field) noexcept {
    if (!failed()) result_.field = field;
  }

  /// Returns false, and sets `error` unless an earlier one is set.
  bool fail(CdrError error) noexcept {
    if (!failed()) {
      result_.error = error;
      result_.offset = position_ + (bytes_.data() != nullptr ? kEncodingBytes : 0);
    }
    return false;
  }

  [[nodiscard]] bool failed() const noexcept { return result_.error != CdrError::None; }

  /// Bytes that have not been read yet.
  [[nodiscard]] std::size_t left() const noexcept { return bytes_.size() - position_; }

  /// Call it at the end. Writers may pad to a multiple of 4 or 8; more is an error.
  [[nodiscard]] CdrResult finish() noexcept {
    if (!failed() && bytes_.size() - position_ >= 8) {
      result_.field = {};
      fail(CdrError::Trailing);
    }
    return result_;
  }

 private:
  static constexpr std::size_t kEncodingBytes = 4;

  template <class Number>
  static void swap_bytes(Number* first, std::size_t elements) noexcept {
    if constexpr (sizeof(Number) > 1) {
      auto* const bytes = reinterpret_cast<std::byte*>(first);
      for (std::size_t i = 0; i < elements; ++i)
        std::reverse(bytes + i * sizeof(Number), bytes + (i + 1) * sizeof(Number));
    }
  }

  bool require(std::size_t size) noexcept {
    if (failed()) return false;
    return size <= bytes_.size() - position_ || fail(CdrError::Truncated);
  }

  bool align(std::size_t to) noexcept {
    const std::size_t gap = (to - position_ % to) % to;
    if (!require(gap)) return false;
    position_ += gap;
    return true;
  }

  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;  // counted from behind the encoding's 4 bytes
  bool swapped_ = false;      // big-endian
  CdrResult result_;
};

}  // namespace cardan
