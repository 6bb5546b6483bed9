// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <cstddef>

namespace cardan::bench {

/// Keeps the calling thread, and those that it starts later, to a CPU, and lets it wake as exactly as the workers of
/// Cardan do.
inline void pin(int cpu) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  ::pthread_setaffinity_np(::pthread_self(), sizeof(set), &set);
  ::prctl(PR_SET_TIMERSLACK, 1UL);
}

}  // namespace cardan::bench
