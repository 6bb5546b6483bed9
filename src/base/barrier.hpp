// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cardan {

/// Whether expedited_barrier() works here (membarrier, Linux 4.14; a container's filter may forbid it).
/// Any thread; never blocks after the first call.
bool has_expedited_barrier() noexcept;

/// A full memory barrier on every running thread of this process. With it, the frequent side of a store-then-load pair
/// needs only a plain store. Does nothing where it is not available.
/// Any thread; a system call of some microseconds.
void expedited_barrier() noexcept;

}  // namespace cardan
