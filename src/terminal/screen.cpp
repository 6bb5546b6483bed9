// SPDX-License-Identifier: Apache-2.0
#include "src/terminal/screen.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace cardan::terminal {
namespace {

bool begins_letter(char c) noexcept { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }

/// Bytes of a colour ("\x1b[1;31m") at the beginning of `text`; 0: no colour.
std::size_t colour_bytes(std::string_view text) noexcept {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find('m');
  return end == std::string_view::npos ? 0 : end + 1;
}

}  // namespace

Room terminal_size() noexcept {
  winsize size{};
  Room room;
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return room;
  if (size.ws_col > 0) room.columns = size.ws_col;
  if (size.ws_row > 0) room.rows = size.ws_row;
  return room;
}

std::size_t width_of(std::string_view text) noexcept {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t colour = colour_bytes(text.substr(at)); colour != 0) {
      at += colour;
      continue;
    }
    if (begins_letter(text[at++])) ++columns;
  }
  return columns;
}

std::string cut(std::string_view line, std::size_t columns) {
  if (width_of(line) <= columns) return std::string(line);
  if (columns == 0) return {};
  std::size_t seen = 0;
  for (std::size_t i = 0; i < line.size(); ++i)
    if (begins_letter(line[i]) && ++seen == columns) return std::string(line.substr(0, i)) + "…";
  return std::string(line);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t comma = text.find(", ");
    const std::string_view part = text.substr(0, comma == std::string_view::npos ? text.size() : comma + 2);
    const std::size_t space = part.ends_with(' ') ? 1 : 0;  // at a line's end it takes no room
    if (!line.empty() && width_of(line) + width_of(part) - space > columns) lines.push_back(std::exchange(line, {}));
    line += part;
    text.remove_prefix(part.size());
  }
  if (!line.empty()) lines.push_back(std::move(line));
  for (std::string& one : lines) {
    while (one.ends_with(' ')) one.pop_back();
    one = cut(one, columns);
  }
  return lines;
}

std::vector<std::string> in_words(std::string_view text, std::size_t columns) {
  if (width_of(text) <= columns) return {std::string(text)};
  std::vector<std::string> lines{""};
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    if (!lines.back().empty() && width_of(lines.back()) + 1 + width_of(word) > columns)
      lines.emplace_back(word);
    else
      lines.back() += (lines.back().empty() ? "" : " ") + std::string(word);
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return lines;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string full_screen(std::string_view title, const std::function<std::string(Room)>& content) {
  const Room size = terminal_size();
  constexpr std::size_t kOwn = 3;  // the title, a line below it, and that of the cursor
  const std::string all =
      cut(title, size.columns) + "\n\n" + content({size.columns, size.rows > kOwn ? size.rows - kOwn : 1});
  std::string out = "\x1b[H";
  for (const char c : all) {
    if (c == '\n') out += "\x1b[K";  // what an earlier, longer line left
    out += c;
  }
  return out + "\x1b[J";
}

std::string LiveBlock::draw(std::string_view log, const std::vector<std::string>& block, Room size) {
  std::string out;
  if (!drawn_for(size)) {
    // Only the terminal knows how it has moved and broken the old lines.
    out = "\x1b[H\x1b[J";
    const std::size_t columns = std::max<std::size_t>(size.columns, 1);
    std::size_t room = size.rows > block.size() + 1 ? size.rows - block.size() - 1 : 0;
    auto first = recent_.end();
    while (first != recent_.begin()) {
      const std::size_t rows = std::max<std::size_t>((width_of(*std::prev(first)) + columns - 1) / columns, 1);
      if (rows > room) break;
      room -= rows;
      --first;
    }
    for (; first != recent_.end(); ++first) out += *first + "\n";
  } else {
    if (rows_ != 0) out += fmt::format("\x1b[{}A", rows_);
    out += "\r\x1b[J";
  }
  out += log;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    recent_.emplace_back(log.substr(0, end));
    if (recent_.size() > kMostLines) recent_.pop_front();
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  for (const std::string& line : block) out += line + "\n";
  rows_ = block.size();
  size_ = size;
  return out;
}

}  // namespace cardan::terminal
