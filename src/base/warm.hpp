// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cardan/detail/atomic.hpp"

/// After a sleep, or after a frame of megabytes has gone through the caches, each first touch of a line or page waits
/// for memory, one after the other. Requested all at once they cost little more than one (docs/benchmark-results.md).
/// Functions with one of these two attributes lie side by side in their own section, which can be prefetched as
/// well.
#define CARDAN_PUBLISH_PATH __attribute__((section("cardan_publish_path")))
#define CARDAN_TAKE_PATH __attribute__((section("cardan_take_path")))

namespace cardan::detail {

/// Prefetches every line of [begin, end). Any address is allowed, because a prefetch never faults. Any thread; never
/// blocks.
inline void warm_lines(const void* begin, const void* end) noexcept {
  constexpr std::uintptr_t kLine = 64;
  const auto last = reinterpret_cast<std::uintptr_t>(end);
  for (std::uintptr_t at = reinterpret_cast<std::uintptr_t>(begin) & ~(kLine - 1); at < last; at += kLine)
    __builtin_prefetch(reinterpret_cast<const void*>(at));
}

/// Lines that a hot path will touch. The addresses may be out of date (their objects may be gone), because they are
/// only prefetched.
/// Thread safety: add() and clear() by one thread at a time, fetch() by any others meanwhile. Never blocks.
class WarmSet {
 public:
  void clear() noexcept { count_.store(0, std::memory_order_relaxed); }
  void add(const void* begin, std::size_t bytes = 1) noexcept {
    const auto first = reinterpret_cast<std::uintptr_t>(begin) / 64;
    const auto last = (reinterpret_cast<std::uintptr_t>(begin) + bytes - 1) / 64;
    for (std::uintptr_t line = first; line <= last; ++line) {
      const std::uint32_t n = count_.load(std::memory_order_relaxed);
      if (n == lines_.size()) return;
      lines_[n].store(line * 64, std::memory_order_relaxed);
      count_.store(n + 1, std::memory_order_relaxed);
    }
  }
  void add_range(const void* begin, const void* end) noexcept {
    add(begin, static_cast<std::size_t>(static_cast<const std::byte*>(end) - static_cast<const std::byte*>(begin)));
  }
  void fetch() const noexcept {
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < count; ++i)
      __builtin_prefetch(reinterpret_cast<const void*>(lines_[i].load(std::memory_order_relaxed)));
  }

 private:
  Atomic<std::uint32_t> count_{0};
  std::array<Atomic<std::uintptr_t>, 31> lines_{};
};

}  // namespace cardan::detail
