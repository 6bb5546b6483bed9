// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cardan::bench::recording {

/// A folder of this run alone on the disk that is measured; gone with this object, and all that is in it. Not to be
/// shared by threads; blocks for the disk.
class DiskFolder {
 public:
  /// In `parent`; empty: where this program was built, else the current folder. Throws Error: it cannot be written, or
  /// is memory and no disk.
  DiskFolder(const std::string& parent, bool keep);
  ~DiskFolder();
  DiskFolder(const DiskFolder&) = delete;
  DiskFolder& operator=(const DiskFolder&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// "ext4 on /dev/vda (rw,relatime)"
  [[nodiscard]] const std::string& file_system() const noexcept { return file_system_; }
  [[nodiscard]] std::uint64_t free_bytes() const;
  /// Its contents are removed (unless it is to be kept), and the disk has done all that was asked: so that a run
  /// does not pay for the one before.
  void clear();
  [[nodiscard]] std::vector<std::string> files() const;
  /// Makes files durable; the kernel's part of writing them that buffered writers leave to later.
  static void synchronize(const std::vector<std::string>& files);

 private:
  std::string path_, file_system_;
  bool keep_;
};

/// How a file system is called that is memory only; nullptr: it is on a disk. `type`: f_type of statfs.
[[nodiscard]] const char* memory_file_system(std::int64_t type) noexcept;

/// Of /proc/self/mountinfo, the mount that `path` is on: "ext4 on /dev/vda (rw,relatime)"; empty: none.
[[nodiscard]] std::string mount_of(const std::string& mountinfo, const std::string& path);

}  // namespace cardan::bench::recording
