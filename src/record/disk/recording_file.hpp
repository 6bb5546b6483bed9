// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "cardan/detail/fd.hpp"
#include "cardan/disk_mode.hpp"
#include "cardan/mcap/records.hpp"

namespace cardan::record {

/// A file that is being recorded: it is called `path` + ".active" until it is finished. The disk's room for it is
/// asked for ahead of the writes: on most file systems they wait for nobody then, and a full disk is noticed early.
class RecordingFile {
 public:
  static constexpr const char* kActive = ".active";

  /// Throws Error: InvalidArgument (it is there already), System (the folder, the disk). Blocks for the disk.
  RecordingFile(std::string path, DiskMode mode);
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;
  ~RecordingFile() = default;  ///< the file stays as it is

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string active_path() const { return path_ + kActive; }
  static constexpr std::uint64_t kAllOfIt = ~std::uint64_t{0};  ///< of `allocated()`: the file system cannot say
  /// This many bytes have their room. Any thread.
  [[nodiscard]] std::uint64_t allocated() const noexcept { return allocated_.load(std::memory_order_acquire); }
  /// Up to there it may be written without taking space that must stay free. Any thread.
  [[nodiscard]] std::uint64_t permitted() const noexcept { return permitted_.load(std::memory_order_acquire); }
  void permit_to(std::uint64_t bytes) noexcept { permitted_.store(bytes, std::memory_order_release); }

  // One thread at a time; each blocks for the disk.
  /// Room up to there; errno, or 0. Where the file system cannot do that, or is in memory, all is taken for allocated.
  int allocate_to(std::uint64_t bytes) noexcept;
  /// Writes whole blocks, all of them. Throws Error (System).
  void write_now(std::uint64_t offset, mcap::View blocks) const;
  /// Everything written so far is durable then. Throws Error (System).
  void sync() const;
  /// Empty: it is where it was made. Else what happened to it, as text.
  [[nodiscard]] std::string missing() const;
  /// Cuts the file off, makes it durable and gives it its name, also in a folder that was moved. Throws Error (System);
  /// also if a file has that name by now: then it keeps the one it has.
  void finish(std::uint64_t bytes);
  /// Lets the page cache go, of what is durable. Direct mode does not use it.
  void drop_cache(std::uint64_t bytes) const noexcept;
  /// Takes a file away in which nothing was recorded.
  void remove() noexcept;

 private:
  void give_name() const;
  [[noreturn]] void failed(int error, const char* what) const;

  std::string path_;
  DiskMode mode_;
  Fd fd_;
  Fd folder_;
  std::atomic<std::uint64_t> allocated_{0}, permitted_{0};
};

/// Bytes that are free for us on the disk of this folder; the largest number: unknown. Any thread; blocks for the file
/// system.
[[nodiscard]] std::uint64_t free_space(const std::string& folder) noexcept;

/// The folder of a path; "." if it names none.
[[nodiscard]] std::string folder_of(const std::string& path);

}  // namespace cardan::record
