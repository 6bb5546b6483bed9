// SPDX-License-Identifier: Apache-2.0
#include "src/record/disk/io_queue.hpp"

#include <algorithm>

namespace cardan::record {

namespace disk {
void advance(DiskWrite& write, std::uint64_t written, bool whole_blocks) noexcept {
  constexpr std::uint64_t kBlock = 4096;
  if (whole_blocks) written -= written % kBlock;
  write.offset += written;
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < write.part_count; ++i) {
    iovec part = write.parts[i];
    const std::uint64_t here = std::min<std::uint64_t>(written, part.iov_len);
    written -= here;
    part.iov_base = static_cast<std::byte*>(part.iov_base) + here;
    part.iov_len -= here;
    if (part.iov_len != 0) write.parts[kept++] = part;
  }
  write.part_count = kept;
}
}  // namespace disk

std::unique_ptr<IoQueue> make_io_queue(const DiskProbe& probe, std::size_t entries) {
  return probe.io_uring ? disk::make_uring_queue(probe.mode, entries) : disk::make_thread_queue(probe.mode, entries);
}

}  // namespace cardan::record
