// SPDX-License-Identifier: Apache-2.0
#include "src/base/barrier.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

namespace cardan {

bool has_expedited_barrier() noexcept {
  static const bool available = [] {
    if (const char* off = std::getenv("CARDAN_NO_MEMBARRIER"); off != nullptr && *off == '1') return false;
    return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
           ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
  }();
  return available;
}

void expedited_barrier() noexcept {
  if (has_expedited_barrier()) ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

}  // namespace cardan
