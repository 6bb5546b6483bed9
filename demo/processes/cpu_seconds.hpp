// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>

namespace cardan::street {

/// CPU time of a process and of those that it has started and that still run, such as a decoder of pictures. Absent: it
/// has ended. Reads /proc; any thread; does not block.
[[nodiscard]] std::optional<double> cpu_seconds_of(pid_t pid);

}  // namespace cardan::street
