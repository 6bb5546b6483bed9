// SPDX-License-Identifier: Apache-2.0
#include "cardan/mcap/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>
#include <system_error>

namespace cardan::mcap {
namespace {

// Kernel 6.8's; headers may be older. The numbers before it (STATX_MNT_ID) are given again after an unmount.
constexpr unsigned kUniqueMountId = 0x4000;

std::string boot_id() {
  std::string id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
  return id;
}

std::string mount_of(int fd) {
  struct statx status{};
  if (::statx(fd, "", AT_EMPTY_PATH, kUniqueMountId, &status) != 0 || (status.stx_mask & kUniqueMountId) == 0)
    return {};
  return std::to_string(status.stx_mnt_id);
}

/// A mounted file system has a folder in sysfs, made with it and gone with it. The folder's inode number is one that
/// the kernel gives once.
std::string superblock_of(int fd) {
  struct statfs system{};
  struct stat file{};
  if (::fstatfs(fd, &system) != 0 || ::fstat(fd, &file) != 0) return {};
  if (system.f_type == TMPFS_MAGIC) return "tmpfs";  // its files vanish with it
  std::error_code error;
  const auto device =
      std::filesystem::canonical(fmt::format("/sys/dev/block/{}:{}", major(file.st_dev), minor(file.st_dev)), error);
  if (error) return {};
  for (const char* const type : {"ext4", "xfs", "f2fs"}) {
    const std::string folder = fmt::format("/sys/fs/{}/{}", type, device.filename().string());
    struct stat found{};
    if (::stat(folder.c_str(), &found) != 0 || ::statfs(folder.c_str(), &system) != 0) continue;
    if (system.f_type == SYSFS_MAGIC) return fmt::format("{} {} {}", type, device.filename().string(), found.st_ino);
  }
  return {};
}

}  // namespace

MountIdentity mount_identity(int fd) {
  return {.boot_id = boot_id(), .mount = mount_of(fd), .superblock = superblock_of(fd)};
}

bool mounted_since(const MountIdentity& then, const MountIdentity& now) noexcept {
  const auto same = [](const std::string& a, const std::string& b) { return !a.empty() && a == b; };
  return same(then.boot_id, now.boot_id) && (same(then.mount, now.mount) || same(then.superblock, now.superblock));
}

}  // namespace cardan::mcap
