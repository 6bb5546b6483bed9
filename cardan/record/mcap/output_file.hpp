// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cardan/memory/fd.hpp"
#include "cardan/record/mcap/records.hpp"

namespace cardan::mcap {

/// A file that appears under its name when it is whole and on the disk, and not at all otherwise. Not to be shared by
/// threads; blocks for the disk.
class OutputFile {
 public:
  /// Throws Error (InvalidArgument): it is there already, and is not to be replaced; (System): it cannot be written.
  OutputFile(std::string path, bool replace);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws Error (System): the disk fails or is full.
  void write(View bytes);
  void finish();

 private:
  [[noreturn]] void failed() const;

  std::string path_, partial_;
  Fd fd_;
};

}  // namespace cardan::mcap
