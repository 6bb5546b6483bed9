// SPDX-License-Identifier: Apache-2.0
// The tables of `cardan top`: what is in them, in which order, and the details of a row.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "apps/terminal/output.hpp"
#include "apps/top/figures.hpp"

namespace cardan::apps::top {

enum class View : std::uint8_t { Processes, Topics, Callbacks, Chains, Services };
inline constexpr std::array kViews{View::Processes, View::Topics, View::Callbacks, View::Chains, View::Services};
[[nodiscard]] const char* name_of(View view) noexcept;

/// A cell as it is shown (safe for a terminal), and the number that it is sorted by.
struct Cell {
  std::string text;
  double number = std::numeric_limits<double>::quiet_NaN();  ///< NaN: sorted by its text
};

struct Line {
  std::string id;  ///< of the same thing in the next measurement; may hold any bytes, and is not shown
  std::vector<Cell> cells;
  bool trouble = false;
};

struct Sheet {
  std::vector<Table::Column> columns;
  std::vector<std::string> keep, trouble;  ///< as of Table
  std::vector<Line> lines;
  std::size_t drawn = 0;  ///< columns at the end that repeat others as pictures; keys do not sort by them
};

struct Order {
  std::size_t column = 0;
  bool descending = false;
};
/// Names come in the order of the alphabet, numbers from the largest one on.
[[nodiscard]] bool descends_by_itself(const Sheet& sheet, std::size_t column);

[[nodiscard]] Sheet sheet_of(const Figures& figures, View view);
/// Keeps the lines with a name that contains `part`, whichever case its letters have.
void filter(Sheet& sheet, const std::string& part);
void sort(Sheet& sheet, Order order);

/// These lines of a sheet as a table, without more than has `room`. `marked`: the line (of the sheet) with the mark;
/// the head shows by what is sorted.
[[nodiscard]] std::vector<std::string> table_of(const Sheet& sheet, std::size_t first, std::size_t count,
                                                std::size_t marked, Order order, Room room);
/// The whole sheet as text, for output that is not a terminal.
[[nodiscard]] std::string text_of(const Sheet& sheet);

/// The data of a line; says so if it is gone.
[[nodiscard]] std::vector<std::string> details_of(const Figures& figures, View view, const std::string& id,
                                                  std::size_t columns);

/// One line on all: processes, topics, CPU, loss.
[[nodiscard]] std::string summary_of(const Figures& figures);

}  // namespace cardan::apps::top
