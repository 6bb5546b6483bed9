// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace cardan::launcher {

/// Makes a process crash, to see what follows: SIGSEGV for the thread that has used most CPU time, which in a host is
/// one that runs callbacks. False: there is no such process, or it is not ours. Reads /proc; any thread; does not
/// block.
bool crash(pid_t pid);

}  // namespace cardan::launcher
