// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>

namespace cardan::bench {

/// Steady clock in nanoseconds; the same for every process of this computer.
inline std::int64_t read_clock(clockid_t clock) noexcept {
  timespec t{};
  ::clock_gettime(clock, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

inline std::int64_t now_ns() noexcept { return read_clock(CLOCK_MONOTONIC); }

/// CPU time of the whole process, helper threads included: what a middleware does in its own threads is its cost too.
inline std::int64_t process_cpu_ns() noexcept { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

inline timespec to_timespec(std::int64_t ns) noexcept {
  return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
}

/// Sleeps until an absolute steady time, so that a late wake-up does not shift the beats after it.
inline void sleep_until(std::int64_t ns) noexcept {
  const timespec t = to_timespec(ns);
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) != 0) {
  }
}

/// Polls the clock until an absolute steady time.
inline void spin_until(std::int64_t ns) noexcept {
  while (now_ns() < ns) {
  }
}

}  // namespace cardan::bench
