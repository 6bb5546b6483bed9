// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/terminal/screen.hpp"

namespace cardan::terminal {

/// The meaning of the command's exit codes; docs/command.md tells users.
enum ExitCode : int { kOk = 0, kFailed = 1, kUsage = 2, kLoss = 3 };

/// "6.6 MiB", "128 B".
std::string bytes_text(double bytes);
/// "12 µs", "3.4 ms", "2.0 s"; "-" for a negative one (not known).
std::string time_text(double nanoseconds);
/// "30.0", "10.0k"; for a column of rates.
std::string count_text(double number);
/// "1 process", "2 processes" with the ending "es".
std::string number_of(std::size_t number, std::string_view what, std::string_view ending = "s");
/// Text from another process without control characters, which a terminal would obey.
std::string printable(std::string_view text);
/// The same for a text of many lines.
std::string printable_lines(std::string_view text);

/// Rows whose columns are as wide as their widest cell, but text() pads none to more than 256. Numbers (`right`) are
/// aligned to the right. On a screen that is too small for it, what tells of trouble stays: columns and rows that do
/// not go first.
class Table {
 public:
  struct Column {
    std::string head;
    bool right = false;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// `matters`: it is left out after the others.
  void row(std::vector<std::string> cells, bool matters = false) { rows_.push_back({std::move(cells), matters}); }

  /// The heads of the columns that are left out last, from the most important one on.
  void keep(std::vector<std::string> heads) { kept_ = std::move(heads); }
  /// Columns that are never left out; a row in which one of them is not "0", "-" or empty matters.
  void trouble(std::vector<std::string> heads) { trouble_ = std::move(heads); }
  /// An empty cell in this many first columns means the value above it.
  void carry_down(std::size_t columns) { carried_ = columns; }

  /// Lines with their line ends; the head first.
  [[nodiscard]] std::string text() const;
  /// The same in this many columns. Cells with several words take several lines. Columns that do not fit follow below
  /// the others, indented. No word is broken; one that is wider than the room stays whole.
  [[nodiscard]] std::string text(std::size_t columns) const;
  /// text(), on a terminal in its columns.
  [[nodiscard]] std::string shown() const;
  /// As much as has room: the head and at least one line, each at most so wide.
  [[nodiscard]] std::vector<std::string> lines(Room room) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    bool matters = false;
  };
  [[nodiscard]] std::vector<std::size_t> widths() const;
  [[nodiscard]] std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& columns,
                                 const std::vector<std::size_t>& widths, bool whole = false) const;
  [[nodiscard]] std::vector<std::size_t> fitting_columns(std::vector<std::size_t>& widths, std::size_t room) const;
  [[nodiscard]] bool is_in_trouble(const Row& row) const;
  void narrow(std::vector<std::size_t>& widths, std::size_t room) const;
  [[nodiscard]] std::string block(const std::vector<std::string>& cells, const std::vector<std::size_t>& columns,
                                  const std::vector<std::size_t>& widths, std::size_t indent) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
  std::vector<std::string> kept_, trouble_;
  std::size_t carried_ = 0;
};

bool stdout_is_terminal();

/// Writes to standard output at once. False: nobody reads it any more (a closed pipe), or it cannot be written, which
/// is reported on standard error once.
bool emit(std::string_view text);
/// Says once on standard error why standard output could not be written; `finish_output` then fails.
void output_failed(int error);
/// Ends the command: writes what still waits for standard output. Returns the exit code, which is kFailed instead of
/// kOk and kLoss if a part of the output could not be written. A reader that has gone changes nothing.
[[nodiscard]] int finish_output(int code);
/// Writes to standard error what it takes: that it is closed or full ends nothing.
void complain(std::string_view text) noexcept;
/// "cardan: …" on standard error, likewise.
void warn(std::string_view text);

/// Shows a line on standard error, if that is a terminal, over the last one. Output of emit() and warn() erases it
/// first. Any thread.
void show_progress(std::string_view line);
void erase_progress() noexcept;

/// Sleeps unless a stop was requested (Ctrl-C); false: it was.
bool sleep_for(std::chrono::nanoseconds duration);

}  // namespace cardan::terminal
