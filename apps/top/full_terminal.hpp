// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cardan::apps::top {

/// Whether this process may draw on the terminal of standard output: it is one, and not a dumb one.
[[nodiscard]] bool can_draw();
/// Whether it wants colours there: NO_COLOR (no-color.org) is not set.
[[nodiscard]] bool wants_colours();

/// The terminal's other screen for as long as this lives. The old contents come back at its end, also if the process
/// crashes, is aborted or stopped (Ctrl-Z). SIGKILL leaves the terminal as it is. One at a time; one thread.
class FullTerminal {
 public:
  FullTerminal();
  ~FullTerminal();
  FullTerminal(const FullTerminal&) = delete;
  FullTerminal& operator=(const FullTerminal&) = delete;

  /// Draws over what is there. Returns false if nobody reads it any more.
  bool draw(const std::vector<std::string>& lines);
  /// Returns true once after the process was stopped: the screen is empty then.
  [[nodiscard]] bool came_back() noexcept;
};

}  // namespace cardan::apps::top
