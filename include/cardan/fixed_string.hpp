// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iosfwd>
#include <string_view>
#include <type_traits>

namespace cardan {

/// Text of at most `N` bytes that lives inside a message: no pointer, trivially copyable, the same in every process. No
/// text is cut silently: a literal that is too long does not compile, and `assign` reports whether the whole text
/// fitted. Reading trusts nothing: a length that another process falsified is clamped to `N`. Functions without a
/// comment do what they do in std::string; sizes are in bytes, and the text has no final NUL.
/// Thread safety: like a plain struct. Never blocks, never allocates, never throws.
template <std::size_t N>
class FixedString {
  static_assert(N >= 1 && N <= 65535, "cardan::FixedString holds 1 to 65535 bytes; use cardan::shm::string for more");

 public:
  constexpr FixedString() noexcept = default;

  /// From a literal or a char array, up to its first NUL. An array that might not fit does not compile.
  template <std::size_t M>
    requires(M <= N + 1)
  constexpr FixedString(const char (&text)[M]) noexcept {  // NOLINT(google-explicit-constructor): reads as text
    std::size_t length = 0;
    while (length < M && text[length] != '\0') ++length;
    copy_from({text, length});
  }

  template <std::size_t M>
    requires(M > N + 1)
  constexpr FixedString(const char (&text)[M]) = delete;  // too long: use a larger FixedString, or `assign` and check

  /// From text of any length, cut after `N` bytes. Use `assign` to find out whether it was cut.
  constexpr explicit FixedString(std::string_view text) noexcept { copy_from(text); }

  /// Copies `text`. Returns false if it was longer than `N` bytes; then only its first `N` bytes are kept.
  [[nodiscard]] constexpr bool assign(std::string_view text) noexcept {
    copy_from(text);
    return text.size() <= N;
  }

  /// Appends `text`. Returns false if not the whole text fitted.
  [[nodiscard]] constexpr bool append(std::string_view text) noexcept {
    const std::size_t old = size();
    const std::size_t count = text.size() < N - old ? text.size() : N - old;
    copy(text_ + old, text.data(), count);
    size_ = static_cast<std::uint32_t>(old + count);
    return count == text.size();
  }

  constexpr void clear() noexcept { size_ = 0; }

  /// The text. Valid as long as this object, and until it is changed.
  [[nodiscard]] constexpr std::string_view view() const noexcept { return {text_, size()}; }
  constexpr operator std::string_view() const noexcept { return view(); }  // NOLINT(google-explicit-constructor)

  [[nodiscard]] constexpr std::size_t size() const noexcept {
    const std::size_t size = load_size();
    return size < N ? size : N;
  }
  [[nodiscard]] constexpr bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] constexpr const char* data() const noexcept { return text_; }
  [[nodiscard]] constexpr const char* begin() const noexcept { return text_; }
  [[nodiscard]] constexpr const char* end() const noexcept { return text_ + size(); }
  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return N; }

  friend constexpr bool operator==(const FixedString& a, const FixedString& b) noexcept { return a.view() == b.view(); }
  friend constexpr auto operator<=>(const FixedString& a, const FixedString& b) noexcept {
    return a.view() <=> b.view();
  }
  template <std::convertible_to<std::string_view> Text>
  friend constexpr bool operator==(const FixedString& a, const Text& b) noexcept {
    return a.view() == std::string_view(b);
  }
  template <std::convertible_to<std::string_view> Text>
  friend constexpr auto operator<=>(const FixedString& a, const Text& b) noexcept {
    return a.view() <=> std::string_view(b);
  }

  template <class Char, class Traits>
  friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out, const FixedString& text) {
    return out << text.view();
  }

 private:
  // `from` may be a part of this text.
  static constexpr void copy(char* to, const char* from, std::size_t count) noexcept {
    if (std::is_constant_evaluated()) {
      for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
    } else if (count != 0) {
      std::memmove(to, from, count);
    }
  }

  constexpr void copy_from(std::string_view text) noexcept {
    const std::size_t count = text.size() < N ? text.size() : N;
    copy(text_, text.data(), count);
    size_ = static_cast<std::uint32_t>(count);
  }

  // The length is read exactly once: in shared memory a hostile publisher could change it between the check and the
  // use.
  [[nodiscard]] constexpr std::uint32_t load_size() const noexcept {
    if (std::is_constant_evaluated()) return size_;
    return __atomic_load_n(&size_, __ATOMIC_RELAXED);
  }

  std::uint32_t size_ = 0;
  char text_[N] = {};
};

}  // namespace cardan
