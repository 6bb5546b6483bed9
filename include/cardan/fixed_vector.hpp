// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace cardan {

/// At most `N` elements and their count, inside a message. For short lists with a known bound. A length that another
/// process falsified is clamped to `N` when it is read. Functions without a comment do what they do in std::vector;
/// operator[] does not check its index.
/// Thread safety: like a plain struct. Never blocks, never allocates, never throws.
template <class T, std::size_t N>
class FixedVector {
  static_assert(std::is_trivially_copyable_v<T>,
                "cardan::FixedVector: elements must be trivially copyable (no std::string, std::vector, shm::vector)");
  static_assert(N >= 1 && N <= 65535,
                "cardan::FixedVector holds 1 to 65535 elements; use cardan::shm::vector for more");

 public:
  using value_type = T;

  /// Adds an element. Returns false when all `N` places are taken.
  [[nodiscard]] constexpr bool push_back(const T& value) noexcept {
    const std::size_t count = size();
    if (count == N) return false;
    items_[count] = value;
    size_ = static_cast<std::uint32_t>(count + 1);
    return true;
  }

  /// Sets the number of elements; new ones are `T{}`. Returns false, without a change, if `count` is greater than `N`.
  [[nodiscard]] constexpr bool resize(std::size_t count) noexcept {
    if (count > N) return false;
    for (std::size_t i = size(); i < count; ++i) items_[i] = T{};
    size_ = static_cast<std::uint32_t>(count);
    return true;
  }

  constexpr void clear() noexcept { size_ = 0; }

  [[nodiscard]] constexpr std::size_t size() const noexcept {
    const std::size_t size = load_size();
    return size < N ? size : N;
  }
  [[nodiscard]] constexpr bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return N; }
  [[nodiscard]] constexpr T& operator[](std::size_t i) noexcept { return items_[i]; }
  [[nodiscard]] constexpr const T& operator[](std::size_t i) const noexcept { return items_[i]; }
  [[nodiscard]] constexpr T* data() noexcept { return items_.data(); }
  [[nodiscard]] constexpr const T* data() const noexcept { return items_.data(); }
  [[nodiscard]] constexpr T* begin() noexcept { return items_.data(); }
  [[nodiscard]] constexpr T* end() noexcept { return items_.data() + size(); }
  [[nodiscard]] constexpr const T* begin() const noexcept { return items_.data(); }
  [[nodiscard]] constexpr const T* end() const noexcept { return items_.data() + size(); }

  friend constexpr bool operator==(const FixedVector& a, const FixedVector& b) {
    const std::size_t count = a.size();
    if (count != b.size()) return false;
    for (std::size_t i = 0; i < count; ++i)
      if (!(a[i] == b[i])) return false;
    return true;
  }

 private:
  // The length is read exactly once, as in FixedString.
  [[nodiscard]] constexpr std::uint32_t load_size() const noexcept {
    if (std::is_constant_evaluated()) return size_;
    return __atomic_load_n(&size_, __ATOMIC_RELAXED);
  }

  std::uint32_t size_ = 0;
  std::array<T, N> items_{};
};

}  // namespace cardan
