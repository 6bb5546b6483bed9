// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cardan::record {

/// How bytes get to the disk, from the best way to the one that works everywhere.
enum class DiskMode : std::uint8_t {
  Direct,     ///< O_DIRECT: from our memory to the device, no page cache
  DontCache,  ///< RWF_DONTCACHE (Linux 6.14): through the page cache, which drops them at once; one copy in the kernel
  SyncRange,  ///< page cache, written back after us (sync_file_range) and dropped
  Plain,      ///< page cache, written back when the kernel likes
};

/// "direct", "dontcache", "sync-range", "plain"
[[nodiscard]] const char* to_string(DiskMode mode) noexcept;
/// The mode of such a word; empty: it is not one.
[[nodiscard]] std::optional<DiskMode> disk_mode_of(const std::string& word) noexcept;

/// The abilities of a folder's file system and this kernel, tried out with a small file in it.
struct DiskProbe {
  DiskMode mode = DiskMode::Plain;  ///< the one that is used
  bool io_uring = false;            ///< false: threads write
  std::uint32_t alignment = 4096;   ///< of addresses, offsets and lengths in Direct mode
  std::string why{};                ///< in words: the choice, and why a better mode does not work
};

/// The best mode, or `wanted` if that works. Throws Error: System (the folder cannot be written), Unavailable
/// (`wanted` does not work there). Set-up; blocks for the disk.
[[nodiscard]] DiskProbe probe_disk(const std::string& folder, std::optional<DiskMode> wanted, bool want_io_uring);

}  // namespace cardan::record
