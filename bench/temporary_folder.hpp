// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "cardan/error.hpp"

namespace cardan::bench {

/// A folder of this run alone, in $TMPDIR or /tmp; it goes with this object, and all that is in it. Throws Error if
/// none can be made. Not to be shared by threads; does not block beyond the file system.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name = "cardan-bench") {
    std::error_code failure;
    path_ = (std::filesystem::temp_directory_path(failure) / (name + "-XXXXXX")).string();
    if (failure || ::mkdtemp(path_.data()) == nullptr)
      throw Error(ErrorCode::Unavailable,
                  "cannot make a folder " + path_ + ": " +
                      (failure ? failure.message() : std::generic_category().message(errno)),
                  "set TMPDIR to a folder that you may write");
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace cardan::bench
