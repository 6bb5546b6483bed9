// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "cardan/detail/atomic.hpp"

namespace cardan::futex {

/// One word of `wait_many`: sleep only while `*word == expected`.
struct Watch {
  const Atomic<std::uint32_t>* word;
  std::uint32_t expected;
};

inline constexpr std::uint32_t kAnyone = 0xffffffffU;

/// Sleeps while `word == expected`, until a wake on the word, until `deadline_ns` (steady clock, 0: none) or a signal.
/// The word may be in a read-only mapping. `bits` selects the wakes that reach the sleeper. Returns 0 or an errno
/// (EAGAIN, ETIMEDOUT, EINTR).
/// Any thread; blocks.
int wait(const Atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t deadline_ns = 0,
         std::uint32_t bits = kAnyone) noexcept;

/// Wakes up to `count` sleepers whose bits overlap with `bits`. Returns how many it woke.
/// Any thread; never blocks; one system call.
int wake(const Atomic<std::uint32_t>& word, int count, std::uint32_t bits = kAnyone) noexcept;

/// Sleeps until one of up to 128 words changes (FUTEX_WAITV, Linux 5.16). Returns 0, EAGAIN, ETIMEDOUT or EINTR, or
/// ENOSYS if the kernel or a container's filter does not offer the call.
/// Any thread; blocks.
int wait_many(std::span<const Watch> words, std::int64_t deadline_ns = 0) noexcept;

/// Whether `wait_many` works here. `CARDAN_NO_FUTEX_WAITV=1` in the environment makes it false, to test the fallback.
bool has_wait_many() noexcept;

}  // namespace cardan::futex
