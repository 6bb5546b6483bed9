// SPDX-License-Identifier: Apache-2.0
#include "demo/report/columns.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace cardan::street {
namespace {

constexpr std::size_t kMargin = 2;
constexpr std::size_t kGap = 2;
constexpr std::size_t kNoTerminal = 100;

std::string padded(const std::string& text, std::size_t width, bool left) {
  const std::string blanks(width - std::min(width, columns_of(text)), ' ');
  return left ? text + blanks : blanks + text;
}

}  // namespace

std::size_t columns_of(const std::string& text) noexcept {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

void Columns::column(std::string head, int drop) { columns_.push_back({std::move(head), drop}); }

void Columns::row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Columns::text(std::size_t width) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    widths.push_back(columns_of(columns_[c].head));
    for (const auto& row : rows_) widths[c] = std::max(widths[c], columns_of(row[c]));
  }
  std::vector<bool> shown(columns_.size(), true);
  while (true) {
    std::size_t needed = kMargin;
    std::size_t least = 0;  // the first column stays in any case
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!shown[c]) continue;
      needed += widths[c] + (c > 0 ? kGap : 0);
      if (columns_[c].drop > columns_[least].drop || !shown[least]) least = c;
    }
    if (needed <= width || columns_[least].drop == 0) break;
    shown[least] = false;
  }
  std::string out;
  const auto line = [&](const auto& cell_of) {
    std::string one(kMargin, ' ');
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (shown[c]) one += (c > 0 ? std::string(kGap, ' ') : std::string()) + padded(cell_of(c), widths[c], c == 0);
    one.erase(one.find_last_not_of(' ') + 1);
    out += one + "\n";
  };
  line([&](std::size_t c) { return columns_[c].head; });
  for (const auto& row : rows_) line([&](std::size_t c) { return row[c]; });
  return out;
}

std::size_t output_width() noexcept {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kNoTerminal;
}

}  // namespace cardan::street
