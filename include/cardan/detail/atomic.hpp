// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace cardan {

/// The only name for atomics in shared memory. Every access of a lock-free protocol goes through an `Env` (see
/// src/transport/protocol/order_table.hpp), so that the memory-order checker can run the same code on its own
/// atomics.
template <class T>
using Atomic = std::atomic<T>;

static_assert(Atomic<std::uint64_t>::is_always_lock_free && Atomic<std::uint32_t>::is_always_lock_free);
static_assert(sizeof(Atomic<std::uint64_t>) == 8 && sizeof(Atomic<std::uint32_t>) == 4);

/// Hints to the core that this is a spin loop. Never blocks.
inline void cpu_relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace cardan
