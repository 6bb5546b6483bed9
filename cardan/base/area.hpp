// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "cardan/base/bound_fd.hpp"
#include "cardan/base/fd.hpp"

namespace cardan {

/// How the pages of an area are placed. Each costs something, so all are off by default.
struct Placement {
  bool lock = false;  ///< mlock: no page is ever swapped; needs RLIMIT_MEMLOCK or CAP_IPC_LOCK
  bool huge_pages =
      false;           ///< ask for transparent huge pages: 10–20 % off a cold 4 MiB fill; needs shmem_enabled=advise
  int numa_node = -1;  ///< bind the pages to this NUMA node; −1: where the first toucher runs
};

/// A range of mapped memory, unmapped when it goes. Never inherited by a child of fork() and never part of a core dump.
/// Not thread safe; never blocks.
class Mapping {
 public:
  Mapping() noexcept = default;
  Mapping(std::byte* data, std::size_t bytes) noexcept : data_(data), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

 private:
  void unmap() noexcept;

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A sealed memfd that this process alone can write: the mapping was made before `F_SEAL_FUTURE_WRITE`, and what is
/// handed over is a descriptor re-opened O_RDONLY (design: "one writer per page"). Its mode is 0400, so another user
/// cannot re-open it for more through /proc. Untouched pages cost nothing.
class Area {
 public:
  Area() = default;
  /// Reserves `bytes` (rounded up to pages). Throws Error (Limit, NoMemory, Unavailable). Set-up only; system calls.
  Area(const std::string& name, std::size_t bytes);

  [[nodiscard]] std::byte* data() const noexcept { return mapping_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return mapping_.size(); }
  /// The read-only descriptor to hand to others.
  [[nodiscard]] int read_only_fd() const noexcept { return read_only_.get(); }
  /// No more hand-overs: the descriptor goes, the memory stays.
  void forget_descriptor() noexcept { read_only_ = {}; }
  /// Allocates and prefaults [offset, offset + bytes), so that no later access faults. Throws Error (NoMemory) when the
  /// machine or a cgroup does not allow it; nothing is committed then. Set-up only; may take 0.2 ms per MiB.
  void commit(std::size_t offset, std::size_t bytes, const Placement& placement = {}) const;

 private:
  Mapping mapping_;
  BoundFd read_only_;
};

/// Maps another process's area read-only. Accepted only with all four seals, on tmpfs (not huge pages), and of exactly
/// `expected_bytes`, because anything else could be made to raise SIGBUS here. Throws Error (Incompatible, System).
/// Set-up only.
Mapping map_read_only(const Fd& fd, std::size_t expected_bytes);

/// Size in bytes of the area behind `fd`, checked as by map_read_only.
std::size_t checked_area_size(const Fd& fd);

/// Whether memory stands behind all of [offset, offset + bytes) of the area `fd`, so that to read it allocates nothing.
/// A sealed area has no less later: its seals forbid to punch holes. System calls; waits while the owner allocates.
[[nodiscard]] bool is_backed(int fd, std::size_t offset, std::size_t bytes) noexcept;

/// Faults the pages of a read-only mapping in, as far as `bytes` (they must be committed by their owner). Failure is
/// harmless.
void prefault_read_only(const Mapping& mapping, std::size_t offset, std::size_t bytes) noexcept;

}  // namespace cardan
