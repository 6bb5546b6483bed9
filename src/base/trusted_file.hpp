// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "cardan/detail/fd.hpp"

namespace cardan {

/// Distinguishes one content of a file from the next without reading it.
struct FileState {
  dev_t device = 0;
  ino_t inode = 0;
  off_t bytes = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  bool operator==(const FileState&) const = default;
  /// False for a file that has changed just now, because the file system's clock may give the next change the same
  /// time.
  [[nodiscard]] bool is_settled() const noexcept;
};

/// A file that decides something and may be in a folder that others can write. It must be a regular file, not a
/// link, owned by root or this user, not writable by others, and at most `max_bytes` long.
/// Set-up and helper thread. Never blocks (a FIFO would).
class TrustedFile {
 public:
  /// Returns nothing if the file does not exist. Throws Error (Refused: it must not be trusted; Unavailable: it cannot
  /// be opened; Limit: no descriptor left) with the cause and the remedy.
  static std::optional<TrustedFile> open(const std::string& path, std::size_t max_bytes);
  [[nodiscard]] const FileState& state() const noexcept { return state_; }
  /// Its text, at most `max_bytes`. Throws Error (Unavailable, or Refused if it has grown longer).
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
