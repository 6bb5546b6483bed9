// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace cardan::launcher {

/// The resources that a process uses.
struct Usage {
  double cpu_seconds = 0;          ///< of all its threads, since its start
  std::uint64_t memory_bytes = 0;  ///< that is there now, with what it shares with others
};

/// Nothing: there is no such process. Reads /proc; any thread; does not block.
[[nodiscard]] std::optional<Usage> usage_of(pid_t pid);
/// The same of one of its threads; the memory is the process's.
[[nodiscard]] std::optional<Usage> usage_of_thread(pid_t pid, pid_t thread);

}  // namespace cardan::launcher
