// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace cardan {

/// What `realtime()` is to ask the kernel for. Everything is off by default.
struct RealtimeOptions {
  enum class Policy : std::uint8_t {
    Fifo,        ///< SCHED_FIFO: runs until it sleeps; a loop that never sleeps takes its CPU from everybody else
    RoundRobin,  ///< SCHED_RR: shares the CPU with threads of the same priority, in slices
    Deadline,  ///< SCHED_DEADLINE: `runtime` of CPU time in each `period`, before all priorities, and no more than that
  };
  /// 1 (above all ordinary threads) to 99 (above the kernel's own interrupt threads, which is rarely wise); 0:
  /// scheduling stays as it is.
  int priority = 0;
  Policy policy = Policy::Fifo;
  /// Of Policy::Deadline, which takes no priority; the deadline is the end of the period. The kernel admits no more
  /// than it can keep. 1,024 ns up.
  std::chrono::nanoseconds runtime{0}, period{0};
  /// Among ordinary threads: -20 (the largest share, first when it wakes) to 19 (the smallest, last); 0: stays as it
  /// is. Of a thread that asks for a policy too it is the second choice, asked for where the kernel refuses the policy.
  /// Above 0 it needs no right.
  int nice = 0;
  /// CPUs on which the thread may run; empty: stays as it is. One CPU saves migrations, and waits while something more
  /// urgent runs there. Policy::Deadline needs all CPUs of its cpuset.
  std::vector<int> cpus{};
  /// Pages of the whole process stay in memory once they were touched: no page fault ever reads from disk again. What
  /// is reserved but untouched is not brought in, so Cardan's areas cost no more than before.
  bool lock_memory = false;
};

/// What became of one request.
struct RealtimeGrant {
  std::string what{};  ///< "SCHED_FIFO priority 50", "CPUs 2,3", "locked memory"
  bool granted = false;
  std::string cause{};   ///< why not, or what was granted only in part
  std::string remedy{};  ///< what to grant, and how
};

struct RealtimeReport {
  std::vector<RealtimeGrant> grants{};  ///< one for each request
  /// Whether all that was asked for was granted.
  [[nodiscard]] bool complete() const noexcept;
  /// One line for each request, for a log.
  [[nodiscard]] std::string text() const;
};

/// Asks the kernel for real-time treatment of the calling thread (and locked memory of its process). What it refuses is
/// in the report, with what to grant; the rest holds all the same, so that a developer's machine without rights runs
/// the same program. Throws Error (InvalidArgument) only for what no computer, or not this one, could ever give:
/// priority 100, CPU 64 of 8, more runtime than period. Set-up; does not block.
RealtimeReport realtime(const RealtimeOptions& options);

}  // namespace cardan
