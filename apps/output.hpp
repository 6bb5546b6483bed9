// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cardan::apps {

/// What the command's exit codes mean; docs/command.md tells users.
enum ExitCode : int { kOk = 0, kFailed = 1, kUsage = 2, kLoss = 3 };

/// "6.6 MiB", "128 B".
std::string bytes_text(double bytes);
/// "12 µs", "3.4 ms", "2.0 s"; "-" for a negative one (not known).
std::string time_text(double nanoseconds);
/// "30.0", "10.0k"; for a column of rates.
std::string count_text(double number);
/// Text from another process without control characters, which a terminal would obey.
std::string printable(std::string_view text);
/// The same for a text of many lines.
std::string printable_lines(std::string_view text);

/// Rows whose columns are as wide as their widest cell. Numbers (`right`) are aligned to the right.
class Table {
 public:
  struct Column {
    std::string head;
    bool right = false;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// Lines with their line ends; the head first.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

bool stdout_is_terminal();

/// Writes to standard output at once. False: nobody reads it any more (a closed pipe).
bool emit(std::string_view text);
/// "cardan: …" on standard error.
void warn(std::string_view text);

/// Sleeps unless a stop was requested (Ctrl-C); false: it was.
bool sleep_for(std::chrono::nanoseconds duration);

}  // namespace cardan::apps
