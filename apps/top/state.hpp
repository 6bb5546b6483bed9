// SPDX-License-Identifier: Apache-2.0
// The effect of keys in `cardan top`, and the screen after it: without a terminal.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/terminal/output.hpp"
#include "apps/top/sheets.hpp"

namespace cardan::apps::top {

/// Where a person is. One thread; nothing blocks.
class State {
 public:
  explicit State(View view, std::string filter = {});

  /// One key (a letter, or one of apps::Key).
  void press(char32_t key);
  /// New figures; while the display is paused they are not taken.
  void take(Figures figures);

  [[nodiscard]] bool ended() const noexcept { return ended_; }
  /// As many lines as the terminal has at most, none wider than it less one column, where some terminals break lines.
  /// `colours`: with the bytes of colours.
  [[nodiscard]] std::vector<std::string> screen(Room size, bool colours);

 private:
  struct Place {
    std::optional<Order> order;  ///< none: the first column with numbers of interest
    std::string chosen;          ///< the line's id
    std::size_t row = 0;         ///< of the chosen one, at the last drawing
    std::size_t first = 0;       ///< row on the screen's top
  };

  [[nodiscard]] Place& place() { return places_[static_cast<std::size_t>(view_)]; }
  [[nodiscard]] Order order_of(const Sheet& sheet);
  [[nodiscard]] Sheet shown();
  void go_to(View view);
  void move(std::ptrdiff_t rows);
  void change_order(int step);
  void order_by(char32_t key);
  bool press_in_filter(char32_t key);
  void press_in_list(char32_t key);
  [[nodiscard]] std::string title() const;
  /// The keys that do something now.
  [[nodiscard]] std::string keys() const;
  [[nodiscard]] std::vector<std::string> list(Room room, bool colours);
  [[nodiscard]] std::vector<std::string> scrolled(std::vector<std::string> lines, Room room);

  View view_;
  std::array<Place, kViews.size()> places_;
  Figures figures_;
  std::map<std::string, std::vector<double>> rates_;  ///< of topics, in the last measurements
  std::map<int, std::vector<double>> loads_;          ///< of processes, by pid
  bool has_figures_ = false;
  std::string filter_;
  bool typing_ = false, help_ = false, paused_ = false, ended_ = false;
  std::optional<std::string> details_;  ///< of the line with this id
  std::size_t scroll_ = 0;              ///< of details and help
  std::size_t page_ = 10;               ///< rows of the last drawing
};

}  // namespace cardan::apps::top
