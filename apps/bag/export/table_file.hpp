// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/mcap/new_file.hpp"

namespace cardan::apps {

/// A line of CSV: cells with commas, quotes or line ends are quoted. Source: RFC 4180, but for the line's end, a single
/// line feed.
void append_csv_row(std::string& out, const std::vector<std::string>& cells);

/// A CSV file, which appears under its name when it is whole. Not to be shared by threads; blocks for the disk.
class TableFile {
 public:
  /// Throws as NewFile.
  TableFile(const std::string& path, bool replace, const std::vector<std::string>& columns);

  void row(const std::vector<std::string>& cells);
  void finish();

 private:
  void flush();

  mcap::NewFile file_;
  std::string lines_;
};

}  // namespace cardan::apps
