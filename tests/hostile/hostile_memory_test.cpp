// SPDX-License-Identifier: Apache-2.0
// Attacks of another user's reader on a publisher's memory with the descriptor and the mapping that it was given. As
// an ordinary user the attacker is the same user, so this needs root.
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include <algorithm>

#include "tests/hostile/attack.hpp"

namespace {

using cardan::Fd;
using namespace cardan::test;

}  // namespace

/// With the descriptors of an honest publisher's memory: everything that would change it.
CARDAN_ROLE(memory_of_another) {
  const Target target = target_of("/target");
  const RawPeer peer(target.socket);
  if (!peer || !peer.hello() || !peer.send(observe(target, "/target", 1))) return 1;
  const auto answer = peer.receive_op("attached");
  if (!answer || answer->fds.size() != 1) return 1;
  const int fd = answer->fds[0].get();
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  std::string possible;
  const auto tried = [&](const char* what, bool succeeded) {
    if (succeeded) possible += std::string(" ") + what;
  };
  struct stat st{};
  ::fstat(fd, &st);
  const auto bytes = static_cast<std::size_t>(st.st_size);
  const Fd writable(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  tried("open-for-writing", static_cast<bool>(writable));
  tried("open-for-writing", static_cast<bool>(Fd(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC))));
  for (const int f : {fd, writable.get()}) {
    if (f < 0) continue;
    tried("fallocate", ::fallocate(f, 0, 0, st.st_size) == 0);
    tried("punch-hole", ::fallocate(f, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0);
    tried("setxattr", ::fsetxattr(f, "user.hostile", "x", 1, 0) == 0);
    tried("chmod", ::fchmod(f, 0777) == 0);
    tried("chown", ::fchown(f, kStranger, kStranger) == 0);
    tried("truncate", ::ftruncate(f, 0) == 0);
    tried("seal", ::fcntl(f, F_ADD_SEALS, F_SEAL_WRITE) == 0);
    tried("map-writable", ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0) != MAP_FAILED);
  }
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) return 1;
  tried("make-writable", ::mprotect(mapped, 4096, PROT_READ | PROT_WRITE) == 0);
  tried("remove", ::madvise(mapped, 4096, MADV_REMOVE) == 0);
  say("possible" + possible);
  const unsigned long node = 1;
  std::string shared;
  if (::syscall(SYS_mbind, mapped, bytes, MPOL_BIND, &node, sizeof(node) * 8, 0) == 0) shared += " mbind";
  const long before = allocated_kib(fd);
  const std::size_t some = std::min<std::size_t>(bytes, 8 * kMiB);
  if (::madvise(static_cast<std::byte*>(mapped) + bytes - some, some, 22 /* MADV_POPULATE_READ */) == 0 &&
      allocated_kib(fd) > before)
    shared += " fault-holes";
  say("shared" + shared);
  say("bytes " + std::to_string(bytes));
  return 0;
}

namespace {

class HostileMemory : public AttackTest {};

TEST_F(HostileMemory, AnotherUsersReaderCannotChangeThePublishersMemory) {
  SKIP_UNLESS_ROOT();
  const cardan::Publisher<Big> out{
      cardan::Topic<Big>{"/target", {.max_bytes = 8 * kMiB, .access = cardan::Access::Everyone}}};
  Child attacker = stranger("memory_of_another");
  EXPECT_EQ(attacker.expect("possible"), "");
  std::printf("  what remains possible:%s\n", attacker.expect("shared").c_str());
  EXPECT_LE(std::stoull(attacker.expect("bytes")), 320 * kMiB) << "as much can be made of it by faulting its holes in";
  EXPECT_EQ(attacker.end(), 0);
}

}  // namespace
