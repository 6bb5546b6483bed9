// SPDX-License-Identifier: Apache-2.0
#include "bench/own_shared_memory.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

#include "cardan/detail/fd.hpp"

namespace cardan::bench {

void enter_own_shared_memory() noexcept {
  const Fd before{::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC)};
  if (!before || ::unshare(CLONE_NEWNS) != 0) return;
  // Private first: otherwise the other namespaces would get the new file system too.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
      ::mount("cardan-bench", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0)
    return;
  (void)::setns(before.get(), CLONE_NEWNS);
}

}  // namespace cardan::bench
