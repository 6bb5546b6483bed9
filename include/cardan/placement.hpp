// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cardan {

/// How the pages of an area are placed. Each option costs something, so all are off by default.
struct Placement {
  bool lock = false;  ///< mlock: no page is ever swapped; needs RLIMIT_MEMLOCK or CAP_IPC_LOCK
  bool huge_pages =
      false;           ///< ask for transparent huge pages: 10–20 % off a cold 4 MiB fill; needs shmem_enabled=advise
  int numa_node = -1;  ///< bind the pages to this NUMA node; −1: the node of the thread that touches them first
};

}  // namespace cardan
