// SPDX-License-Identifier: Apache-2.0
// Doctor: what the kernel, and a container's filter, let Cardan do. Tried, not looked up, wherever that is possible.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "apps/doctor/doctor.hpp"
#include "cardan/detail/fd.hpp"
#include "cardan/error.hpp"
#include "src/base/area.hpp"
#include "src/base/barrier.hpp"
#include "src/base/crc32c.hpp"
#include "src/base/futex.hpp"

namespace cardan::apps {
namespace {

using Status = Finding::Status;

void kernel_version(Findings& all) {
  utsname name{};
  ::uname(&name);
  int major = 0;
  int minor = 0;
  if (std::sscanf(name.release, "%d.%d", &major, &minor) != 2) {
    all.push_back({"kernel", Status::Note, fmt::format("{} {}: an unknown version", name.sysname, name.release)});
  } else if (major < 5 || (major == 5 && minor < 15)) {
    all.push_back({"kernel", Status::Fail, fmt::format("{} is older than 5.15", name.release),
                   "use Linux 5.15 or newer (Ubuntu 22.04, Debian 12, JetPack 6)"});
  } else {
    all.push_back({"kernel", Status::Ok, fmt::format("{} on {}", name.release, name.machine)});
  }
}

void sealed_memory(Findings& all) {
  if (::access("/proc/self/fd", R_OK | X_OK) != 0) {
    all.push_back({"/proc", Status::Fail, "not mounted here; without it memory cannot be shared read-only",
                   "mount /proc in this container"});
    return;
  }
  all.push_back({"/proc", Status::Ok, "mounted"});
  try {
    const detail::Area area("doctor", 4096);
    area.commit(0, 4096);
    all.push_back({"sealed memory", Status::Ok, "memfd, its four seals and MADV_POPULATE_WRITE work"});
    // The basis of the whole design: no one gets a second writable mapping, not even by opening the memory again.
    const Fd again(::open(fmt::format("/proc/self/fd/{}", area.read_only_fd()).c_str(), O_RDWR | O_CLOEXEC));
    void* const second = again ? ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, again.get(), 0) : MAP_FAILED;
    if (second != MAP_FAILED) {
      ::munmap(second, 4096);
      all.push_back({"one writer a page", Status::Fail, "this kernel gives others a writable mapping of sealed memory",
                     "use a Linux kernel (gVisor and other emulations do not guarantee this)"});
    } else {
      all.push_back({"one writer a page", Status::Ok, "the kernel refuses a second writable mapping of sealed memory"});
    }
  } catch (const Error& e) {
    all.push_back({"sealed memory", Status::Fail, e.cause(), e.remedy()});
  }
}

void futexes(Findings& all) {
  const Atomic<std::uint32_t> word{1};
  if (const int error = futex::wait(word, 0); error != EAGAIN)
    all.push_back({"futex", Status::Fail,
                   fmt::format("waiting on shared memory does not work: {}", std::strerror(error)),
                   "allow the system call futex in this container"});
  else
    all.push_back({"futex", Status::Ok, "waiting and waking work"});
  if (futex::has_wait_many())
    all.push_back({"futex_waitv", Status::Ok, "waiting on many topics is one system call"});
  else
    all.push_back(
        {"futex_waitv", Status::Warn,
         "not there (Linux 5.16; a container's filter may forbid it): waiting on many topics goes through descriptors "
         "and costs some microseconds more",
         "no action needed; a newer kernel, or a seccomp profile that allows futex_waitv, makes it faster"});
  if (has_expedited_barrier())
    all.push_back({"membarrier", Status::Ok, "available"});
  else
    all.push_back({"membarrier", Status::Warn,
                   "a container's filter forbids it: publishing costs some nanoseconds more",
                   "allow the system call membarrier in the seccomp profile"});
}

void sockets(Findings& all) {
  std::array<int, 2> pair{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0) {
    all.push_back({"Unix sockets", Status::Fail, fmt::format("SOCK_SEQPACKET does not work: {}", std::strerror(errno)),
                   "allow AF_UNIX sockets in this container (systemd: RestrictAddressFamilies=AF_UNIX)"});
    return;
  }
  const Fd a(pair[0]);
  const Fd b(pair[1]);
  ucred credentials{};
  socklen_t length = sizeof(credentials);
  if (::getsockopt(a.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0 || credentials.uid != ::geteuid())
    all.push_back({"Unix sockets", Status::Fail, "the kernel does not identify the peer (SO_PEERCRED)",
                   "use a Linux kernel (gVisor and other emulations lack it)"});
  else
    all.push_back({"Unix sockets", Status::Ok, "with the peer's credentials"});
}

void container(Findings& all) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Seccomp:") && line.find('2') != std::string::npos)
      all.push_back({"seccomp", Status::Note,
                     "a filter for system calls is active (container, systemd); forbidden calls return EPERM, which "
                     "Cardan treats as \"not available\""});
  std::ifstream map("/proc/self/uid_map");
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;
  if (map >> inside >> outside >> count && count != 4294967295U)
    all.push_back({"user namespace", Status::Note,
                   fmt::format("users here are {} to {} of the computer; peers from elsewhere look like user 65534 and "
                               "match no allow list",
                               outside, outside + count - 1)});
}

void instructions(Findings& all) {
  if (crc32c_in_hardware())
    all.push_back({"checksum", Status::Ok, "CRC-32C is an instruction of this CPU"});
  else
    all.push_back({"checksum", Status::Warn,
                   "this CPU has no CRC-32C instruction: topics with checksum = true cost about ten times as much",
                   "leave checksum off for large frames"});
}

void asynchronous_disk(Findings& all) {
  io_uring_params parameters{};
  const Fd ring(static_cast<int>(::syscall(SYS_io_uring_setup, 1, &parameters)));
  const int error = errno;
  if (ring)
    all.push_back({"io_uring", Status::Ok, "available; `cardan record` writes with it"});
  else
    all.push_back({"io_uring", Status::Note,
                   fmt::format("not available ({}): `cardan record` writes with threads instead", std::strerror(error)),
                   "kernel.io_uring_disabled=0, and in a container a seccomp profile that allows io_uring_setup"});
}

}  // namespace

void check_kernel(Findings& all) {
  kernel_version(all);
  sealed_memory(all);
  futexes(all);
  sockets(all);
  container(all);
  instructions(all);
  asynchronous_disk(all);
}

}  // namespace cardan::apps
