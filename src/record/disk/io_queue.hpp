// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cardan/disk_mode.hpp"

namespace cardan::record {

/// One write to a file: bytes of up to three places that follow each other in it. In Direct mode each address, length
/// and the offset are multiples of the disk's alignment. The bytes must stay as they are until it has completed.
struct DiskWrite {
  int fd = -1;
  std::uint64_t offset = 0;
  std::array<iovec, 3> parts{};
  std::uint32_t part_count = 0;
  bool durable = false;  ///< completes only when it would survive a power loss (RWF_DSYNC)

  void add(const void* from, std::size_t bytes) noexcept {
    if (bytes != 0) parts[part_count++] = {const_cast<void*>(from), bytes};
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < part_count; ++i) sum += parts[i].iov_len;
    return sum;
  }
};

/// The result of a write or a sync.
struct DiskDone {
  std::uint64_t id = 0;
  int error = 0;  ///< errno; 0: all bytes are with the kernel (Direct: with the device)
  std::int64_t submitted_ns = 0, completed_ns = 0;  ///< steady clock
};

/// Writes that are under way. A short or interrupted write continues by itself: a completion means all bytes, or
/// an error. One thread at a time.
class IoQueue {
 public:
  IoQueue() = default;
  IoQueue(const IoQueue&) = delete;
  IoQueue& operator=(const IoQueue&) = delete;
  virtual ~IoQueue() = default;  ///< waits for what is under way

  /// Room for this many more.
  [[nodiscard]] virtual std::size_t room() const noexcept = 0;
  // With room only. `id` comes back.
  virtual void write(std::uint64_t id, const DiskWrite& write) noexcept = 0;
  virtual void sync(std::uint64_t id, int fd) noexcept = 0;  ///< fdatasync
  /// Hands over what was added. At most one system call.
  virtual void submit() noexcept = 0;
  /// Appends what has completed. Does not block, and allocates only while `done` grows.
  virtual void reap(std::vector<DiskDone>& done) = 0;
  /// Blocks until something has completed, or `until` (steady clock).
  virtual void wait(std::int64_t until_ns) noexcept = 0;
  [[nodiscard]] virtual std::size_t under_way() const noexcept = 0;
};

/// Of io_uring where the probe found it, else of threads. To be used by the thread that makes it. Throws Error (System,
/// Limit).
[[nodiscard]] std::unique_ptr<IoQueue> make_io_queue(const DiskProbe& probe, std::size_t entries);

namespace disk {
[[nodiscard]] std::unique_ptr<IoQueue> make_uring_queue(DiskMode mode, std::size_t entries);
[[nodiscard]] std::unique_ptr<IoQueue> make_thread_queue(DiskMode mode, std::size_t entries);

/// Older headers do not have it; Linux 6.14.
inline constexpr int kDontCache = 0x80;

/// Takes the first bytes off a write, which have been written. Direct mode continues at whole blocks only, and writes
/// the rest of a broken one again.
void advance(DiskWrite& write, std::uint64_t written, bool whole_blocks) noexcept;
}  // namespace disk

}  // namespace cardan::record
