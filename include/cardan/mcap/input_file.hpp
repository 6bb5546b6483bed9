// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Files that are read at any place, and the file system on which a file was written.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "cardan/detail/fd.hpp"
#include "cardan/mcap/codec.hpp"

namespace cardan::mcap {

/// A mounted file system of a running kernel. Plain data. Written bytes that have not reached the disk can be read as
/// long as the same kernel runs and the file system stays mounted. After that, only durable bytes are certain.
struct MountIdentity {
  std::string boot_id{};     ///< of the kernel; empty: unknown
  std::string mount{};       ///< the kernel's number of the mount, which it gives once only; empty: it gives none
  std::string superblock{};  ///< the file system's, the same through all its mounts and in containers; empty: unknown
};

/// Of the file that is open there. The mount's number needs kernel 6.8; of older ones the superblock's place in sysfs
/// tells (ext4, xfs, f2fs), and a tmpfs tells by itself. Any thread; makes a few system calls.
[[nodiscard]] MountIdentity mount_identity(int fd);

/// Whether all bytes that were written at `then` are there at `now`: the same kernel, and the file system was mounted
/// all the time. False if that cannot be determined.
[[nodiscard]] bool mounted_since(const MountIdentity& then, const MountIdentity& now) noexcept;

/// A file that is read at any place. Its size is queried again each time it matters, so that one which is still
/// written can be read. Any thread; blocks for the disk.
class InputFile {
 public:
  /// Throws Error (InvalidArgument): it is not there, or not a regular file; (System): it may not be read. Opening
  /// never waits, also not for a pipe's writer.
  explicit InputFile(std::string path);

  /// A file of a recording. One that rosbag2 compressed as a whole (its name ends with kPackedEnding) is unpacked into
  /// a temporary file without a name, in $TMPDIR or else /var/tmp: at most most_unpacked_of() bytes. Throws as the
  /// constructor, and Error (InvalidArgument): it is damaged, or holds more; (System): there is no room for it.
  [[nodiscard]] static InputFile of_recording(const std::string& path);
  static constexpr const char* kPackedEnding = ".zstd";  ///< of the name of such a file

  /// As given; of an unpacked file, the packed one's.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Bytes now. Throws Error (System).
  [[nodiscard]] std::uint64_t size() const;
  /// The open file, valid as long as this object.
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

  /// Reads up to into.size() bytes from `offset`; less only at the end of the file. Throws Error (System): the disk
  /// fails.
  [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<std::byte> into) const;

  /// The opcode and length of a record there. Empty: the file ends before.
  [[nodiscard]] std::optional<Prefix> read_prefix(std::uint64_t offset) const;

  /// Exactly `bytes`, or nothing: false. `into` is made larger only as far as the file goes.
  [[nodiscard]] bool read_exactly(std::uint64_t offset, std::uint64_t bytes, Bytes& into) const;

 private:
  InputFile(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  [[noreturn]] void refuse(unsigned mode) const;

  std::string path_;
  Fd fd_;
};

}  // namespace cardan::mcap
