// SPDX-License-Identifier: Apache-2.0
// Where a file was written: for bytes that the kernel had and that perhaps never reached the disk. They are there as
// long as that kernel runs and that file system stays mounted, and after that only as far as they were made durable.
#pragma once

#include <string>

namespace cardan::mcap {

/// A mounted file system of a running kernel. Plain data.
struct MountIdentity {
  std::string boot_id{};     ///< of the kernel; empty: unknown
  std::string mount{};       ///< the kernel's number of the mount, which it gives once only; empty: it gives none
  std::string superblock{};  ///< the file system's, the same through all its mounts and in containers; empty: unknown
};

/// Of the file that is open there. The mount's number needs kernel 6.8; of older ones the superblock's place in sysfs
/// tells (ext4, xfs, f2fs), and a tmpfs tells by itself. Any thread; makes a few system calls.
[[nodiscard]] MountIdentity mount_identity(int fd);

/// Whether what was written at `then` is all there at `now`: the same kernel, and the file system was mounted all the
/// time. False if that cannot be determined.
[[nodiscard]] bool mounted_since(const MountIdentity& then, const MountIdentity& now) noexcept;

}  // namespace cardan::mcap
