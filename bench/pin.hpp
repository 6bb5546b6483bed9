// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>
#include <sys/prctl.h>

#include <cstddef>

namespace cardan::bench {

/// Keeps the calling thread, and those that it starts later, to a CPU. False: errno says why.
inline bool pin_to(int cpu) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  return ::sched_setaffinity(0, sizeof(set), &set) == 0;  // 0: the calling thread
}

/// Keeps the calling thread, and those that it starts later, to a CPU, and lets it wake as exactly as the workers of
/// Cardan do.
inline void pin(int cpu) noexcept {
  static_cast<void>(pin_to(cpu));
  ::prctl(PR_SET_TIMERSLACK, 1UL);
}

}  // namespace cardan::bench
