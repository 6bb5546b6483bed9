// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cardan/detail/fd.hpp"
#include "cardan/mcap/records.hpp"

namespace cardan::mcap {

/// Makes a file that was not there, for writing, and locks it against others that make or read one of this name. The
/// leftovers of a killed writer of this user under this name are removed first. Throws Error (InvalidArgument): a link,
/// something else than a file, a file of another user, or one that is being read or written is there; (System): it
/// cannot be written. Any thread; blocks for the disk.
[[nodiscard]] Fd make_new_file(const std::string& path);

/// A file that appears under its name when it is done, and not at all otherwise: until then it is NAME.partial.
/// Not to be shared by threads; blocks for the disk.
class NewFile {
 public:
  /// Throws Error (InvalidArgument): it is there already and not to be replaced; and as make_new_file() of
  /// NAME.partial.
  NewFile(std::string path, bool replace);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// For a library that writes by itself; it stays this one's.
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// Throws Error (System): the disk fails or is full.
  void write(View bytes);
  /// Over what was written before. Throws as `write`.
  void overwrite(std::uint64_t offset, View bytes);
  /// `to_disk`: it is on the disk before it has its name. Without, a power failure may leave less than was
  /// written. Throws as the constructor and `write`.
  void finish(bool to_disk = true);

 private:
  [[noreturn]] void failed() const;
  [[noreturn]] void there_already() const;

  std::string path_, partial_;
  bool replace_, finished_ = false;
  Fd fd_;
};

}  // namespace cardan::mcap
