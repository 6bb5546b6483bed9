// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace cardan::launcher {

/// Cuts what a process writes into lines, so that lines of several processes can be merged without being torn. A line
/// of more than kMaxLine bytes comes in pieces. Thread safety: one thread at a time. Never blocks.
class LineSplitter {
 public:
  static constexpr std::size_t kMaxLine = 16 * 1024;

  /// Calls `line(std::string_view)` for each line that is whole now, without its end.
  template <class F>
  void add(std::string_view text, F&& line) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const std::string_view part = text.substr(0, end);
      const std::size_t fits = kMaxLine - rest_.size();
      if (part.size() > fits) {
        rest_ += part.substr(0, fits);
        text.remove_prefix(fits);
        give(line);
        continue;
      }
      rest_ += part;
      if (end == std::string_view::npos) return;
      text.remove_prefix(end + 1);
      give(line);
    }
  }
  /// The process has ended: what it wrote last needs no line's end.
  template <class F>
  void finish(F&& line) {
    if (!rest_.empty()) give(line);
  }

 private:
  template <class F>
  void give(F& line) {
    std::string_view whole = rest_;
    if (whole.ends_with('\r')) whole.remove_suffix(1);
    line(whole);
    rest_.clear();
  }
  std::string rest_;
};

}  // namespace cardan::launcher
