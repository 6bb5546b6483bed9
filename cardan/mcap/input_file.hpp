// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cardan/base/fd.hpp"
#include "cardan/mcap/codec.hpp"

namespace cardan::mcap {

/// A file that is read at any place. Its size is queried again each time it matters, so that one which is still
/// written can be read. Any thread; blocks for the disk.
class InputFile {
 public:
  /// Throws Error (InvalidArgument): it is not there, or not a regular file; (System): it may not be read. Opening
  /// never waits, also not for a pipe's writer.
  explicit InputFile(std::string path);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t size() const;
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

  /// Reads up to into.size() bytes from `offset`; less only at the end of the file. Throws Error (System): the disk
  /// fails.
  [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<std::byte> into) const;

  /// What a record there says of itself. Empty: the file ends before.
  [[nodiscard]] std::optional<Prefix> read_prefix(std::uint64_t offset) const;

  /// Exactly `bytes`, or nothing: false. `into` is made larger only as far as the file goes.
  [[nodiscard]] bool read_exactly(std::uint64_t offset, std::uint64_t bytes, Bytes& into) const;

 private:
  [[noreturn]] void refuse(unsigned mode) const;

  std::string path_;
  Fd fd_;
};

}  // namespace cardan::mcap
