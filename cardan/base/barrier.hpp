// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cardan {

/// Whether expedited_barrier() works here (membarrier, Linux 4.14; a container's filter may forbid it). Any thread;
/// never blocks after the first call.
bool has_expedited_barrier() noexcept;

/// A full memory barrier on every running thread of this process: lets the frequent side of a store-then-load pair do
/// with a plain store. Any thread; a system call of some microseconds. Does nothing where it does not exist.
void expedited_barrier() noexcept;

}  // namespace cardan
