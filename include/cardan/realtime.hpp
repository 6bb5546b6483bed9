// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cardan/detail/duration.hpp"

namespace cardan {

/// The requests of `realtime()` to the kernel. Everything is off by default.
struct RealtimeOptions {
  /// A scheduling policy of the kernel, for `priority` above 0 or a `runtime`.
  enum class Policy : std::uint8_t {
    Fifo,        ///< SCHED_FIFO: runs until it sleeps; a loop that never sleeps blocks its CPU for all other threads
    RoundRobin,  ///< SCHED_RR: shares the CPU with threads of the same priority, in slices
    Deadline,    ///< SCHED_DEADLINE: `runtime` of CPU time in each `period`, before all priorities, and never more
  };
  /// 1 (above all ordinary threads) to 99 (above the kernel's own interrupt threads, which is rarely wise). 0:
  /// scheduling stays as it is.
  int priority = 0;
  /// Fifo has the lowest latency, RoundRobin shares a CPU among equals, Deadline bounds what the thread may use.
  Policy policy = Policy::Fifo;
  /// For Policy::Deadline, which takes no priority. The deadline is the end of the period. The kernel admits no more
  /// than it can guarantee. At least 1,024 ns.
  std::chrono::nanoseconds runtime{0}, period{0};
  /// For ordinary threads: -20 (the largest share, first on wake-up) to 19 (the smallest, last). 0: stays as it is. For
  /// a thread that also requests a policy it is the second choice, used if the kernel refuses the policy. Values above
  /// 0 need no privilege.
  int nice = 0;
  /// CPUs on which the thread may run; empty: stays as it is. A single CPU saves migrations, but the thread waits while
  /// something more urgent runs there. Policy::Deadline needs all CPUs of its cpuset.
  std::vector<int> cpus{};
  /// Keeps the pages of the whole process in memory once they were touched, so that no page fault ever reads from disk
  /// again. Pages that are reserved but untouched are not brought in, so Cardan's areas cost no more than before.
  bool lock_memory = false;
};

/// The result of one request.
struct RealtimeGrant {
  std::string what{};  ///< "SCHED_FIFO priority 50", "CPUs 2,3", "locked memory"
  bool granted = false;
  std::string cause{};   ///< the reason for a refusal, or for a grant in part
  std::string remedy{};  ///< what to grant, and how
};

/// The result of realtime().
struct RealtimeReport {
  std::vector<RealtimeGrant> grants{};  ///< one for each request
  /// Whether all requests were granted.
  [[nodiscard]] bool complete() const noexcept;
  /// One line for each request, for a log.
  [[nodiscard]] std::string text() const;
};

/// Requests real-time treatment of the calling thread (and locked memory for its process) from the kernel. The report
/// lists what the kernel refuses, with what to grant. The rest takes effect nevertheless, so that a developer's machine
/// without rights runs the same program. Throws Error (InvalidArgument) only for requests that no computer, or not this
/// one, can ever grant: priority 100, CPU 64 of 8, more runtime than period.
/// Set-up; does not block.
RealtimeReport realtime(const RealtimeOptions& options);

}  // namespace cardan
