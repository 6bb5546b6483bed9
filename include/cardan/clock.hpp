// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

#include <cstdint>

namespace cardan {

/// Nanoseconds of the steady clock (CLOCK_MONOTONIC). Any thread; never blocks.
inline std::int64_t steady_now() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

/// Nanoseconds since the epoch of the wall clock (CLOCK_REALTIME), the clock of sensor stamps. Any thread; never
/// blocks.
inline std::int64_t wall_now() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

/// CPU time used by the calling thread so far, in nanoseconds. Any thread; a system call, never blocks.
inline std::int64_t thread_cpu_now() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

}  // namespace cardan
