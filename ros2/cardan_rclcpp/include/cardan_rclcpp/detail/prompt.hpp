// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cardan::ros::detail {

/// Lets the calling thread run as soon as it is woken, on a computer whose CPUs are busy too: by the lowest real-time
/// priority where this user may have one (limit rtprio), else by a time slice of 0.1 ms, for which Linux 6.12 and newer
/// take a waking thread before one with a longer slice. Older kernels: no change. A thread that is not an ordinary one
/// stays as it is. For threads that work for microseconds at a time.
/// Thread safety: any thread, for itself. Does not block.
void be_prompt() noexcept;

}  // namespace cardan::ros::detail
