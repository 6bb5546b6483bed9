// SPDX-License-Identifier: Apache-2.0
// A picture that is drawn again and again on a terminal, of whatever size it is at that moment.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cardan::terminal {

/// A terminal's, or the part of one that something may fill.
struct Room {
  std::size_t columns = 100, rows = 24;
  bool operator==(const Room&) const = default;
};

/// Of the terminal of standard output; what it does not say is as above.
[[nodiscard]] Room terminal_size() noexcept;

/// Columns on the screen: letters of UTF-8, without the bytes of colours.
[[nodiscard]] std::size_t width_of(std::string_view text) noexcept;
/// At most this number of its columns; if something is left out, the last one is '…'.
[[nodiscard]] std::string cut(std::string_view line, std::size_t columns);
/// In lines of at most this many columns, broken after ", " if there is one.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

/// In lines of at most this many columns, broken at spaces. A word that is wider stays whole. At least one line.
[[nodiscard]] std::vector<std::string> in_words(std::string_view text, std::size_t columns);

/// Lines with their line ends.
[[nodiscard]] std::string text_of(const std::vector<std::string>& lines);
/// A whole screen, drawn over the last one: a title, and below it what `content` gives for the room that is left.
[[nodiscard]] std::string full_screen(std::string_view title, const std::function<std::string(Room)>& content);

/// Lines at the lower end of the screen that are drawn over each other, and a log that scrolls above them. When the
/// terminal's size changes the screen is redrawn, because the place of the old lines is not known then.
class LiveBlock {
 public:
  /// The bytes to write: `log` is of whole lines; `block` has fewer lines than the terminal, none of them wider.
  [[nodiscard]] std::string draw(std::string_view log, const std::vector<std::string>& block, Room size);
  [[nodiscard]] bool drawn_for(Room size) const noexcept { return rows_ == 0 || size == size_; }
  /// The log of a screen, for when it is redrawn.
  static constexpr std::size_t kMostLines = 300;

 private:
  std::size_t rows_ = 0;  ///< of the block on the screen
  Room size_;
  std::deque<std::string> recent_;
};

}  // namespace cardan::terminal
