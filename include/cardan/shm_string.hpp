// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string_view>

#include "cardan/shm_vector.hpp"

namespace cardan::shm {

/// Text of any length inside a message; its bytes live in the message's slot. It is not NUL-terminated and not copyable
/// (as `shm::vector`): copy it with `std::string(text.view())`. Growing beyond the topic's `max_bytes` throws
/// `std::length_error`; the `try_` forms return false instead and leave the text as it was. Functions without a comment
/// do what they do in `std::string`; sizes are in bytes.
/// Thread safety: like `std::string`. Never blocks.
class string : public VectorBase {
 public:
  using value_type = char;

  string() noexcept = default;

  string& operator=(std::string_view text) {
    assign(text);
    return *this;
  }

  void assign(std::string_view text) {
    if (!try_assign(text)) throw_no_room(text.size(), 1);
  }
  /// Replaces the text.
  [[nodiscard]] bool try_assign(std::string_view text) noexcept {
    if (!grow(text.size(), 1)) return false;
    if (!text.empty()) std::memmove(address(), text.data(), text.size());
    size_ = text.size();
    return true;
  }

  /// The same; throws `std::length_error` if it does not fit.
  void append(std::string_view text) {
    if (!try_append(text)) throw_no_room(size_ + text.size(), 1);
  }
  /// Appends `text`, which must not be part of this string.
  [[nodiscard]] bool try_append(std::string_view text) noexcept {
    if (!grow(size_ + text.size(), 1)) return false;
    if (!text.empty()) std::memcpy(data() + size_, text.data(), text.size());
    size_ += text.size();
    return true;
  }
  string& operator+=(std::string_view text) {
    append(text);
    return *this;
  }
  void push_back(char letter) { append({&letter, 1}); }

  void reserve(std::size_t count) {
    if (!grow(count, 1)) throw_no_room(count, 1);
  }
  void clear() noexcept { size_ = 0; }

  /// The text. Valid until this string changes, and as long as the message.
  [[nodiscard]] std::string_view view() const noexcept { return {data(), size_}; }
  operator std::string_view() const noexcept { return view(); }  // NOLINT(google-explicit-constructor): reads as text
  [[nodiscard]] char* data() noexcept { return static_cast<char*>(address()); }
  [[nodiscard]] const char* data() const noexcept { return static_cast<const char*>(address()); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] const char* begin() const noexcept { return data(); }
  [[nodiscard]] const char* end() const noexcept { return data() + size_; }
  [[nodiscard]] char operator[](std::size_t i) const noexcept { return data()[i]; }

  friend bool operator==(const string& a, std::string_view b) noexcept { return a.view() == b; }
  friend bool operator==(const string& a, const string& b) noexcept { return a.view() == b.view(); }

  template <class Char, class Traits>
  friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out, const string& text) {
    return out << text.view();
  }
};

}  // namespace cardan::shm
