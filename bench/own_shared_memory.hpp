// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cardan::bench {

/// From here on /dev/shm of this process and of those that it starts is a separate file system. Files that a killed
/// peer leaves there go with the last of them, and peers do not meet other programs' files. Without the right to mount
/// (root) nothing changes. For a process with one thread; does not block.
void enter_own_shared_memory() noexcept;

}  // namespace cardan::bench
