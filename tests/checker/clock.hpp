// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace cardan::checker {

inline constexpr std::size_t kMaxThreads = 6;

/// The part of every thread that happens before this point: the number of its last such step.
using Clock = std::array<std::uint32_t, kMaxThreads>;

inline void join(Clock& into, const Clock& other) {
  for (std::size_t i = 0; i < kMaxThreads; ++i) into[i] = std::max(into[i], other[i]);
}

inline bool is_acquire(std::memory_order o) {
  return o == std::memory_order_acquire || o == std::memory_order_acq_rel || o == std::memory_order_seq_cst;
}
inline bool is_release(std::memory_order o) {
  return o == std::memory_order_release || o == std::memory_order_acq_rel || o == std::memory_order_seq_cst;
}

inline std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2);
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ULL;
  h ^= h >> 32;
  return h;
}

}  // namespace cardan::checker
