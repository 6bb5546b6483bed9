// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace cardan {

/// Why bytes are not the CDR form of a type.
enum class CdrError {
  None,       ///< they are
  Encoding,   ///< the first bytes are neither 00 01 nor 00 00: not plain XCDR1
  Truncated,  ///< the bytes end within a field, or a list announces more elements than there are bytes
  BadText,    ///< a text without its final NUL
  TooLong,    ///< a text or a list is longer than the FixedString or FixedVector that takes it
  NoRoom,     ///< the message's storage is too small for its lists
  Trailing,   ///< bytes are left over: another type, or another version of the type
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
          return "bytes are left over — they are of another type, or of another version of the type";
      }
      return "";
    };
    std::string out(words());
    if (error != CdrError::None) out += " (byte " + std::to_string(offset);
    if (error != CdrError::None && !field.empty()) out += ", field '" + std::string(field) + "'";
    return error != CdrError::None ? out + ")" : out;
  }
};

/// Bytes that lie in consecutive pieces, cut anywhere: the packets of a network. Pieces may be empty.
using CdrPieces = std::span<const std::span<const std::byte>>;

/// Reads XCDR1, of either byte order, from untrusted bytes: it checks every length against the remaining bytes before
/// using it. After the first failure every call returns false. Bytes in pieces are read as if they were in one; lists
/// of numbers go straight from the pieces to where they belong. Thread safety: none. Never blocks or throws. It
/// allocates only for a text or a list of bytes that is handed out as a view although it lies in several pieces.
class CdrReader {
 public:
  /// `bytes` start with the 4 bytes of the encoding, and must live as long as the reader.
  explicit CdrReader(std::span<const std::byte> bytes) noexcept : piece_(bytes), left_(bytes.size()) { open(); }
  /// The list of the pieces must live as long as the reader.
  explicit CdrReader(CdrPieces pieces) noexcept : later_(pieces) {
    for (const auto& piece : pieces) left_ += piece.size();
    open();
  }

  /// Reads one number, after the gap that aligns it to its size.
  template <class Number>
    requires(std::is_arithmetic_v<Number> || std::is_enum_v<Number>)
  bool number(Number& value) noexcept {
    if (!align(sizeof(Number)) || !require(sizeof(Number))) return false;
    take(&value, sizeof(Number));
    if (swapped_) swap_bytes(&value, 1);
    return true;
  }

  /// Reads one byte; every value but 0 is true.
  bool boolean(bool& value) noexcept {
    std::uint8_t byte = 0;
    if (!number(byte)) return false;
    value = byte != 0;
    return true;
  }

  /// A text within the input bytes, without its NUL. If it lies in several pieces, it is a copy, which is valid until
  /// the next string() or bytes(); NoRoom if there is no memory for it.
  bool string(std::string_view& text) noexcept {
    std::size_t length = 0;
    std::span<const std::byte> all;
    if (!text_length(length) || !view(length, all)) return false;
    text = length != 0 ? std::string_view(reinterpret_cast<const char*>(all.data()), length - 1) : std::string_view();
    return true;
  }

  /// A text, copied to the place that `room(letters)` returns, without its NUL. `room` refuses it by calling fail().
  template <class Room>
  bool string_to(Room&& room) noexcept {
    std::size_t length = 0;
    if (!text_length(length)) return false;
    const std::size_t letters = length != 0 ? length - 1 : 0;
    void* const to = room(letters);
    if (failed()) return false;
    if (letters != 0) take(to, letters);
    skip(length - letters);
    return true;
  }

  /// Reads the number of elements that follow. Each takes at least `least_bytes`, so a false number cannot make the
  /// caller prepare more elements than the input can hold.
  bool count(std::size_t& elements, std::size_t least_bytes) noexcept {
    std::uint32_t announced = 0;
    if (!number(announced)) return false;
    if (announced > left_ / least_bytes) return fail(CdrError::Truncated);
    elements = announced;
    return true;
  }

  /// Reads `elements` consecutive numbers to `first`.
  template <class Number>
  bool numbers(Number* first, std::size_t elements) noexcept {
    if (elements == 0) return !failed();
    if (!align(sizeof(Number)) || elements > left_ / sizeof(Number)) return fail(CdrError::Truncated);
    take(first, elements * sizeof(Number));
    if (swapped_) swap_bytes(first, elements);
    return true;
  }

  /// A list of bytes within the input bytes; in several pieces as string().
  bool bytes(std::span<const std::byte>& list) noexcept {
    std::uint32_t length = 0;
    return number(length) && require(length) && view(length, list);
  }

  /// Names the field that is read now, for the error.
  void enter(std::string_view field) noexcept {
    if (!failed()) result_.field = field;
  }

  /// Returns false, and sets `error` unless an earlier one is set.
  bool fail(CdrError error) noexcept {
    if (!failed()) {
      result_.error = error;
      result_.offset = position_ + (opened_ ? kEncodingBytes : 0);
    }
    return false;
  }

  /// Whether anything failed so far.
  [[nodiscard]] bool failed() const noexcept { return result_.error != CdrError::None; }

  /// Bytes that have not been read yet.
  [[nodiscard]] std::size_t left() const noexcept { return left_; }

  /// Call it at the end. Writers may pad to a multiple of 4 or 8; more is an error.
  [[nodiscard]] CdrResult finish() noexcept {
    if (!failed() && left_ >= 8) {
      result_.field = {};
      fail(CdrError::Trailing);
    }
    return result_;
  }

 private:
  static constexpr std::size_t kEncodingBytes = 4;

  void open() noexcept {
    std::byte head[kEncodingBytes]{};
    if (left_ < kEncodingBytes) {
      fail(CdrError::Truncated);
    } else {
      take(head, kEncodingBytes);
      position_ = 0;
      if (head[0] != std::byte{0} || head[1] > std::byte{1}) fail(CdrError::Encoding);
    }
    if (failed()) {
      left_ = 0;
      return;
    }
    opened_ = true;
    swapped_ = head[1] == std::byte{0};
  }

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
    return size <= left_ || fail(CdrError::Truncated);
  }

  bool align(std::size_t to) noexcept {
    const std::size_t gap = (to - position_ % to) % to;
    if (!require(gap)) return false;
    skip(gap);
    return true;
  }

  /// The length of a text with its NUL, which is there.
  bool text_length(std::size_t& length) noexcept {
    std::uint32_t announced = 0;
    if (!number(announced) || !require(announced)) return false;
    if (announced != 0 && ahead(announced - 1) != std::byte{0}) return fail(CdrError::BadText);
    length = announced;
    return true;
  }

  // These take bytes of which there are enough.

  [[nodiscard]] std::byte ahead(std::size_t offset) const noexcept {
    if (offset < piece_.size()) return piece_[offset];
    offset -= piece_.size();
    std::size_t i = 0;
    while (offset >= later_[i].size()) offset -= later_[i++].size();
    return later_[i][offset];
  }

  void take(void* to, std::size_t size) noexcept {
    if (size > piece_.size()) [[unlikely]]
      return take_in_parts(static_cast<std::byte*>(to), size);
    std::memcpy(to, piece_.data(), size);
    pass(size);
  }
  void take_in_parts(std::byte* to, std::size_t size) noexcept {
    while (size != 0) {
      const std::size_t part = std::min(size, piece_.size());
      if (part != 0) std::memcpy(to, piece_.data(), part);
      to += part;
      size -= part;
      pass(part);
      if (size != 0) next();
    }
  }
  void skip(std::size_t size) noexcept {
    while (size > piece_.size()) {
      size -= piece_.size();
      pass(piece_.size());
      next();
    }
    pass(size);
  }
  bool view(std::size_t size, std::span<const std::byte>& bytes) noexcept {
    while (piece_.empty() && size != 0) next();
    if (size <= piece_.size()) {
      bytes = piece_.first(size);
      pass(size);
      return true;
    }
    copy_.reset(new (std::nothrow) std::byte[size]);
    if (!copy_) return fail(CdrError::NoRoom);
    take(copy_.get(), size);
    bytes = {copy_.get(), size};
    return true;
  }

  void pass(std::size_t size) noexcept {
    piece_ = piece_.subspan(size);
    position_ += size;
    left_ -= size;
  }
  void next() noexcept {
    piece_ = later_.front();
    later_ = later_.subspan(1);
  }

  std::span<const std::byte> piece_;  // what has not been read of the piece that is read now
  CdrPieces later_;
  std::size_t left_ = 0;      // of all pieces
  std::size_t position_ = 0;  // counted from the end of the encoding's 4 bytes
  bool opened_ = false;       // the encoding was read
  bool swapped_ = false;      // big-endian
  CdrResult result_;
  std::unique_ptr<std::byte[]> copy_;  // of what was handed out last and lies in several pieces
};

}  // namespace cardan
