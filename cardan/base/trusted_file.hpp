// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "cardan/base/fd.hpp"

namespace cardan {

/// Tells one content of a file from the next without reading it.
struct FileState {
  dev_t device = 0;
  ino_t inode = 0;
  off_t bytes = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  bool operator==(const FileState&) const = default;
  /// False for a file that has changed just now: the file system's clock may give the next change the same time.
  [[nodiscard]] bool is_settled() const noexcept;
};

/// A file that decides something and may stand in a folder that others can write: a regular file, no link, of root or
/// of this user, that nobody else can write, of at most `max_bytes`. Never blocks (a FIFO would). Set-up and helper
/// thread.
class TrustedFile {
 public:
  /// Returns nothing when the file does not exist. Throws Error (Refused: it must not be trusted; Unavailable: it
  /// cannot be opened; Limit: no descriptor left) with what is wrong and what to do.
  static std::optional<TrustedFile> open(const std::string& path, std::size_t max_bytes);
  [[nodiscard]] const FileState& state() const noexcept { return state_; }
  /// Its text, at most `max_bytes`. Throws Error (Unavailable, or Refused when it has grown longer).
  [[nodiscard]] std::string read() const;

 private:
  TrustedFile(std::string path, Fd fd, std::size_t max_bytes) noexcept
      : path_(std::move(path)), fd_(std::move(fd)), max_bytes_(max_bytes) {}
  std::string path_;
  Fd fd_;
  std::size_t max_bytes_;
  FileState state_;
};

}  // namespace cardan
