// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "cardan/detail/fd.hpp"
#include "cardan/placement.hpp"
#include "src/base/bound_fd.hpp"

namespace cardan::detail {

/// A range of mapped memory. The destructor unmaps it. A child of fork() never inherits it, and a core dump never
/// contains it.
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

/// A sealed memfd that only this process can write. The writable mapping is made before `F_SEAL_FUTURE_WRITE`, and
/// other processes get a descriptor that was re-opened O_RDONLY (design: "one writer per page"). Its mode is 0400, so
/// another user cannot re-open it through /proc with more rights. Untouched pages cost nothing.
class Area {
 public:
  Area() = default;
  /// Reserves `bytes` (rounded up to pages). Throws Error (Limit, NoMemory, Unavailable).
  /// Set-up only; system calls.
  Area(const std::string& name, std::size_t bytes);

  [[nodiscard]] std::byte* data() const noexcept { return mapping_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return mapping_.size(); }
  /// The read-only descriptor for other processes.
  [[nodiscard]] int read_only_fd() const noexcept { return read_only_.get(); }
  /// Closes the descriptor, so that it cannot be handed to further processes. The memory stays.
  void forget_descriptor() noexcept { read_only_ = {}; }
  /// Allocates and prefaults [offset, offset + bytes), so that no later access faults. Throws Error (NoMemory) if the
  /// machine or a cgroup does not allow it; then nothing is committed.
  /// Set-up only; may take 0.2 ms per MiB.
  void commit(std::size_t offset, std::size_t bytes, const Placement& placement = {}) const;

 private:
  Mapping mapping_;
  BoundFd read_only_;
};

/// Maps another process's area read-only. Accepts only an area with all four seals, on tmpfs (not huge pages), and of
/// exactly `expected_bytes`, because any other file could be made to raise SIGBUS here. Throws Error (Incompatible,
/// System).
/// Set-up only.
Mapping map_read_only(const Fd& fd, std::size_t expected_bytes);

/// Size in bytes of the area of `fd`, checked as in map_read_only.
std::size_t checked_area_size(const Fd& fd);

/// Whether all of [offset, offset + bytes) of the area `fd` is backed by memory, so that reading it allocates nothing.
/// This stays true for a sealed area, because its seals forbid punching holes.
/// System calls; waits while the owner allocates.
[[nodiscard]] bool is_backed(int fd, std::size_t offset, std::size_t bytes) noexcept;

/// Faults in the pages of a read-only mapping, as far as `bytes` (their owner must have committed them). A failure is
/// harmless.
void prefault_read_only(const Mapping& mapping, std::size_t offset, std::size_t bytes) noexcept;

}  // namespace cardan::detail
