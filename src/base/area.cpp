// SPDX-License-Identifier: Apache-2.0
#include "src/base/area.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "cardan/error.hpp"
#include "src/base/capacity.hpp"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace cardan::detail {
namespace {

constexpr std::size_t kPage = 4096;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
constexpr std::uint64_t kReserve = 64ULL << 20;  // left for everybody else when an area is committed

Error failed(const std::string& what, int error) {
  switch (error) {
    case EMFILE:
      return {ErrorCode::Limit, what + ": this process has too many open descriptors",
              "raise the limit (ulimit -n 65536, systemd: LimitNOFILE=65536)"};
    case ENFILE:
      return {ErrorCode::Limit, what + ": the system has too many open files", "raise fs.file-max"};
    case ENOMEM:
    case ENOSPC:
      return {ErrorCode::NoMemory, what + ": no memory",
              "lower max_bytes, depth or max_memory of the topic, or free memory"};
    default:
      return {ErrorCode::System, fmt::format("{}: {}", what, std::strerror(error)), "run `cardan doctor`"};
  }
}

void keep_private(std::byte* data, std::size_t bytes) noexcept {
  ::madvise(data, bytes, MADV_DONTFORK);
  ::madvise(data, bytes, MADV_DONTDUMP);
}

std::string shmem_huge_pages_setting() {
  std::ifstream in("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  std::string all;
  std::getline(in, all);
  return all;
}

void place(std::byte* data, std::size_t bytes, const Placement& placement) {
  if (placement.huge_pages) {
    const std::string setting = shmem_huge_pages_setting();
    if (setting.find("[never]") != std::string::npos || setting.find("[deny]") != std::string::npos || setting.empty())
      throw Error(
          ErrorCode::Unavailable, "huge pages for shared memory are switched off on this computer (" + setting + ")",
          "as root: echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled, or set huge_pages = false");
    ::madvise(data, bytes, MADV_HUGEPAGE);
  }
  // Any process that maps the memory can set where its pages come from, a reader too. The owner decides what is
  // committed now. The kernel leaves out a policy that the mapping has already, so another one comes first.
  if (placement.numa_node < 0)
    for (const int mode : {MPOL_LOCAL, MPOL_DEFAULT}) ::syscall(SYS_mbind, data, bytes, mode, nullptr, 0, 0);
  if (placement.numa_node >= 0) {
    if (placement.numa_node >= 64)
      throw Error(ErrorCode::InvalidArgument, fmt::format("NUMA node {} is out of range", placement.numa_node),
                  "use a node below 64");
    const unsigned long mask = 1UL << placement.numa_node;
    if (::syscall(SYS_mbind, data, bytes, MPOL_BIND, &mask, sizeof(mask) * 8, 0) != 0)
      throw Error(ErrorCode::Refused,
                  fmt::format("cannot bind memory to NUMA node {}: {}", placement.numa_node, std::strerror(errno)),
                  "use a node that `cardan doctor` lists, or numa_node = -1");
  }
}

/// Makes every page present, and changes nothing in it.
void touch(std::byte* data, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += kPage)
    __atomic_fetch_or(reinterpret_cast<unsigned char*>(data + at), 0, __ATOMIC_RELAXED);
}

}  // namespace

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  if (this != &other) {
    unmap();
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

Mapping::~Mapping() { unmap(); }

void Mapping::unmap() noexcept {
  // In a forked child the range was never there, and something else may be by now.
  if (data_ != nullptr && !is_forked_child()) ::munmap(data_, bytes_);
}

Area::Area(const std::string& name, std::size_t bytes) {
  bytes = (bytes + kPage - 1) / kPage * kPage;
  const std::string label = "cardan:" + name.substr(0, 200);
  const Fd writable = make_bound([&] { return ::memfd_create(label.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING); });
  if (!writable) throw failed("cannot create shared memory for " + name, errno);
  // Before anybody else has it: memfds begin with mode 0777, and a process that may open one for writing can fill its
  // holes.
  if (::fchmod(writable.get(), 0400) != 0) throw failed("cannot keep the memory of " + name + " from others", errno);
  if (::ftruncate(writable.get(), static_cast<off_t>(bytes)) != 0)
    throw failed(fmt::format("cannot reserve {} bytes for {}", bytes, name), errno);
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, writable.get(), 0);
  if (data == MAP_FAILED) throw failed(fmt::format("cannot map {} bytes for {}", bytes, name), errno);
  mapping_ = Mapping(static_cast<std::byte*>(data), bytes);
  keep_private(mapping_.data(), bytes);
  if (::fcntl(writable.get(), F_ADD_SEALS, kSeals) != 0)
    throw Error(ErrorCode::Unavailable,
                fmt::format("this kernel cannot seal memory against writing: {}", std::strerror(errno)),
                "Cardan needs Linux 5.15 or newer");
  const std::string path = fmt::format("/proc/self/fd/{}", writable.get());
  read_only_ = BoundFd(make_bound([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!read_only_) {
    if (errno == ENOENT)
      throw Error(ErrorCode::Unavailable,
                  "/proc is not mounted here, and without it memory cannot be handed over read-only",
                  "mount /proc in this container");
    throw failed("cannot re-open the memory of " + name + " read-only", errno);
  }
}

void Area::commit(std::size_t offset, std::size_t bytes, const Placement& placement) const {
  if (bytes == 0) return;
  const std::size_t begin = offset / kPage * kPage;
  const std::size_t length = std::min((offset + bytes + kPage - 1) / kPage * kPage, size()) - begin;
  const std::uint64_t available = available_memory();
  // A cgroup answers too much memory with SIGKILL, not with an error, so the comparison has to come first.
  if (length > (1U << 20) && length + kReserve > available)
    throw Error(ErrorCode::NoMemory,
                fmt::format("{} bytes of shared memory are needed, {} are available", length, available),
                "lower max_bytes, depth, loans or holds of the topic, or raise the memory limit of the cgroup");
  place(data() + begin, length, placement);
  // MADV_POPULATE_WRITE (Linux 5.14) answers with an error where touching the pages would raise SIGBUS.
  if (::madvise(data() + begin, length, MADV_POPULATE_WRITE) != 0)
    throw failed(fmt::format("cannot commit {} bytes of shared memory", length), errno == EFAULT ? ENOMEM : errno);
  // qemu-user takes any advice for a hint: it answers that all is well, and does nothing.
  if (!is_backed(read_only_.get(), begin, length)) touch(data() + begin, length);
  if (placement.lock && ::mlock(data() + begin, length) != 0)
    throw Error(
        ErrorCode::Limit, fmt::format("cannot lock {} bytes in memory: {}", length, std::strerror(errno)),
        "raise RLIMIT_MEMLOCK (ulimit -l, systemd: LimitMEMLOCK=infinity) or grant CAP_IPC_LOCK, or set lock = false");
}

std::size_t checked_area_size(const Fd& fd) {
  struct statfs fs{};
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (::fstatfs(fd.get(), &fs) != 0 || static_cast<unsigned long>(fs.f_type) != TMPFS_MAGIC)
    throw Error(ErrorCode::Incompatible, "the peer handed over something that is not ordinary shared memory",
                "it is not a Cardan process, or a hostile one");
  if (seals < 0 || (seals & kSeals) != kSeals)
    throw Error(ErrorCode::Incompatible, "the peer handed over memory that is not sealed",
                "it is not a Cardan process, or a hostile one");
  // Not fstat(): since Linux 6.12 it waits while the owner allocates, which an owner can do for long.
  const off_t bytes = ::lseek(fd.get(), 0, SEEK_END);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

Mapping map_read_only(const Fd& fd, std::size_t expected_bytes) {
  const std::size_t bytes = checked_area_size(fd);
  if (bytes != expected_bytes || bytes == 0)
    throw Error(ErrorCode::Incompatible,
                fmt::format("the peer handed over {} bytes of memory instead of {}", bytes, expected_bytes),
                "it is not a Cardan process, or a hostile one");
  void* data = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (data == MAP_FAILED) throw failed(fmt::format("cannot map {} bytes of a peer's memory", bytes), errno);
  keep_private(static_cast<std::byte*>(data), bytes);
  return {static_cast<std::byte*>(data), bytes};
}

bool is_backed(int fd, std::size_t offset, std::size_t bytes) noexcept {
  if (bytes == 0) return true;
  // Swapped-out pages count as data. The end of the file counts as a hole.
  const off_t hole = ::lseek(fd, static_cast<off_t>(offset), SEEK_HOLE);
  return hole >= 0 && static_cast<std::size_t>(hole) > offset && static_cast<std::size_t>(hole) - offset >= bytes;
}

void prefault_read_only(const Mapping& mapping, std::size_t offset, std::size_t bytes) noexcept {
  const std::size_t begin = offset / kPage * kPage;
  if (begin >= mapping.size()) return;
  const std::size_t length = std::min(offset + bytes, mapping.size()) - begin;
  ::madvise(mapping.data() + begin, length, MADV_POPULATE_READ);
}

}  // namespace cardan::detail
