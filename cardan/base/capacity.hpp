// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cardan {

/// Bytes that this process can commit now without the kernel killing somebody for it: the smaller of MemAvailable and
/// what the memory cgroups (v2, and v1's `memory.limit_in_bytes`) from ours up to the root leave. Any thread; reads
/// files of /proc and /sys/fs/cgroup. `CARDAN_MEMORY_LIMIT` (bytes) in the environment lowers it further.
std::uint64_t available_memory();

}  // namespace cardan
