// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cardan {

/// Bytes that this process can commit now without causing the kernel to kill a process: the smaller of MemAvailable and
/// the room that the memory cgroups (v2, and v1's `memory.limit_in_bytes`) from ours up to the root leave.
/// `CARDAN_MEMORY_LIMIT` (bytes) in the environment lowers it further.
/// Any thread; reads files of /proc and /sys/fs/cgroup.
std::uint64_t available_memory();

}  // namespace cardan
