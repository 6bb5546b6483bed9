// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cardan::street {

/// Columns of a terminal that `text` takes: its code points, all of which are one column wide here.
[[nodiscard]] std::size_t columns_of(const std::string& text) noexcept;

/// A table of aligned columns that drops the least important ones until it fits.
class Columns {
 public:
  /// `drop`: 0 stays, else the column with the highest goes first. The first column is aligned to the left, all others
  /// to the right.
  void column(std::string head, int drop = 0);
  /// One cell for each column.
  void row(std::vector<std::string> cells);

  /// Lines of at most `width` columns, unless those that stay need more. Each line begins with two blanks.
  [[nodiscard]] std::string text(std::size_t width) const;

 private:
  struct Column {
    std::string head;
    int drop;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Columns of the terminal of standard output; 100 without a terminal.
[[nodiscard]] std::size_t output_width() noexcept;

}  // namespace cardan::street
