// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "src/terminal/output.hpp"

namespace cardan::terminal {
namespace {

constexpr std::size_t kGap = 2;         // between columns
constexpr std::size_t kIndent = 4;      // of columns that are below the others
constexpr std::size_t kLeastWidth = 8;  // of a column of texts that is shortened
/// That cells are filled up to: one long name in a file must not be paid for by each of its thousands of topics.
constexpr std::size_t kMostFilled = 256;

bool contains(const std::vector<std::string>& heads, const std::string& head) {
  return std::find(heads.begin(), heads.end(), head) != heads.end();
}

std::size_t longest_word(const std::string& text) {
  std::size_t longest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    longest = std::max(longest, width_of(std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
  }
  return longest;
}

}  // namespace

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = width_of(columns_[c].head);
    for (const Row& row : rows_) width = std::max(width, width_of(row.cells[c]));
    widths.push_back(width);
  }
  return widths;
}

std::string Table::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& columns,
                        const std::vector<std::size_t>& widths, bool whole) const {
  std::string out;
  for (const std::size_t c : columns) {
    const std::string text = whole ? cells[c] : cut(cells[c], widths[c]);
    const std::string gap(widths[c] - std::min(widths[c], width_of(text)), ' ');
    out += columns_[c].right ? gap + text : text + gap;
    out.append(kGap, ' ');
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

std::string Table::text() const {
  std::vector<std::size_t> width = widths();
  for (std::size_t& one : width) one = std::min(one, kMostFilled);
  std::vector<std::size_t> all(columns_.size());
  std::iota(all.begin(), all.end(), 0U);
  std::vector<std::string> heads;
  for (const Column& column : columns_) heads.push_back(column.head);
  std::string text = line(heads, all, width, true) + "\n";
  for (const Row& row : rows_) text += line(row.cells, all, width, true) + "\n";
  return text;
}

/// Cells with several words become narrower, the widest first, as far as no word is broken.
void Table::narrow(std::vector<std::size_t>& widths, std::size_t room) const {
  std::vector<std::size_t> least = widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].right) continue;
    least[c] = width_of(columns_[c].head);
    for (const Row& row : rows_) least[c] = std::max(least[c], longest_word(row.cells[c]));
  }
  for (std::size_t needed = std::reduce(widths.begin(), widths.end(), kGap * (widths.size() - 1)); needed > room;
       --needed) {
    std::size_t widest = columns_.size();
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (widths[c] > least[c] && (widest == columns_.size() || widths[c] > widths[widest])) widest = c;
    if (widest == columns_.size()) return;
    --widths[widest];
  }
}

std::string Table::block(const std::vector<std::string>& cells, const std::vector<std::size_t>& columns,
                         const std::vector<std::size_t>& widths, std::size_t indent) const {
  std::vector<std::vector<std::string>> parts(columns_.size());
  std::size_t lines = 0;
  for (const std::size_t c : columns) {
    parts[c] = in_words(cells[c], widths[c]);
    if (!cells[c].empty()) lines = std::max(lines, parts[c].size());
  }
  std::string out;
  for (std::size_t i = 0; i < lines; ++i) {
    std::vector<std::string> now(columns_.size());
    for (const std::size_t c : columns)
      if (i < parts[c].size()) now[c] = std::move(parts[c][i]);
    out += std::string(indent, ' ') + line(now, columns, widths, true) + "\n";
  }
  return out;
}

std::string Table::text(std::size_t columns) const {
  const std::vector<std::size_t> natural = widths();
  std::vector<std::size_t> width = natural;
  narrow(width, columns);
  std::vector<std::vector<std::size_t>> groups;  // columns that share a line
  std::size_t used = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (groups.empty() || used + kGap + width[c] > columns) {
      used = groups.empty() ? 0 : kIndent;
      groups.emplace_back();
    } else {
      used += kGap;
    }
    used += width[c];
    groups.back().push_back(c);
    // The rest of a line that ends early is for its last column.
    if (c + 1 == columns_.size() || used + kGap + width[c + 1] > columns)
      width[c] = std::min(natural[c], width[c] + columns - std::min(used, columns));
  }
  std::vector<std::string> heads;
  for (const Column& column : columns_) heads.push_back(column.head);
  std::string text;
  const auto add = [&](const std::vector<std::string>& cells) {
    for (std::size_t g = 0; g < groups.size(); ++g) text += block(cells, groups[g], width, g == 0 ? 0 : kIndent);
  };
  add(heads);
  for (const Row& row : rows_) add(row.cells);
  return text;
}

std::string Table::shown() const { return stdout_is_terminal() ? text(terminal_size().columns) : text(); }

std::vector<std::size_t> Table::fitting_columns(std::vector<std::size_t>& widths, std::size_t room) const {
  std::vector<std::size_t> columns(columns_.size());
  std::iota(columns.begin(), columns.end(), 0U);
  const auto needed = [&] {
    std::size_t sum = 0;
    for (const std::size_t c : columns) sum += widths[c] + kGap;
    return sum - kGap;
  };
  const auto rank = [&](std::size_t c) {
    const std::string& head = columns_[c].head;
    if (contains(trouble_, head)) return std::size_t{0};
    const auto found = std::find(kept_.begin(), kept_.end(), head);
    return found == kept_.end() ? kept_.size() + 1 + c : static_cast<std::size_t>(found - kept_.begin());
  };
  while (columns.size() > 1 && needed() > room) {
    const auto last = std::max_element(columns.begin(), columns.end(),
                                       [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    if (rank(*last) == 0) break;
    columns.erase(last);
  }
  while (needed() > room) {  // names become shorter, the longest first
    auto widest = columns.end();
    for (auto c = columns.begin(); c != columns.end(); ++c)
      if (!columns_[*c].right && widths[*c] > kLeastWidth && (widest == columns.end() || widths[*c] > widths[*widest]))
        widest = c;
    if (widest == columns.end()) break;
    --widths[*widest];
  }
  return columns;
}

bool Table::is_in_trouble(const Row& row) const {
  if (row.matters) return true;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const std::string& cell = row.cells[c];
    if (contains(trouble_, columns_[c].head) && cell != "0" && cell != "-" && !cell.empty()) return true;
  }
  return false;
}

std::vector<std::string> Table::lines(Room room) const {
  std::vector<std::size_t> width = widths();
  const std::vector<std::size_t> columns = fitting_columns(width, room.columns);
  std::vector<bool> shown(rows_.size(), true);
  std::size_t hidden = 0;
  std::size_t hidden_trouble = 0;
  if (rows_.size() + 1 > room.rows) {
    std::size_t left = std::max<std::size_t>(room.rows, 3) - 2;  // the head, and the line that says what is hidden
    shown.assign(rows_.size(), false);
    for (const bool trouble : {true, false})
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        if (is_in_trouble(rows_[i]) != trouble) continue;
        shown[i] = left > 0;
        if (left > 0)
          --left;
        else
          ++(trouble ? hidden_trouble : hidden);
      }
  }

  std::vector<std::string> lines;
  std::vector<std::string> heads;
  for (const Column& column : columns_) heads.push_back(column.head);
  lines.push_back(cut(line(heads, columns, width), room.columns));
  std::vector<std::string> above(carried_);  // what the carried cells mean here
  std::vector<std::string> before(carried_, "\n");
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    std::vector<std::string> cells = rows_[i].cells;
    for (std::size_t c = 0; c < carried_; ++c)
      if (!cells[c].empty()) above[c] = cells[c];
    if (!shown[i]) continue;
    const bool same = above == before;
    for (std::size_t c = 0; c < carried_; ++c) cells[c] = same ? "" : above[c];
    before = above;
    lines.push_back(cut(line(cells, columns, width), room.columns));
  }
  if (hidden + hidden_trouble != 0)
    lines.push_back(cut(hidden_trouble == 0 ? fmt::format("… {} more", hidden)
                                            : fmt::format("… {} more, {} of them with trouble", hidden + hidden_trouble,
                                                          hidden_trouble),
                        room.columns));
  return lines;
}

}  // namespace cardan::terminal
