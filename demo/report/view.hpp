// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "demo/report/measurements.hpp"
#include "demo/report/report.hpp"

namespace cardan::street {

struct ProcessLoad {
  std::string process;
  double cpu_percent = 0;  ///< of one core
};

/// The contents of the live view at one moment.
struct Moment {
  Setup setup{};
  double seconds = 0, of_seconds = 0;
  bool measuring = false;  ///< false: the processes are still starting
  std::array<Measurements::Recent, kHops> hops;
  std::vector<ProcessLoad> cpu{};
  Summary decision_us;
  std::uint64_t decisions = 0;
  bool has_decision = false, brake = false;
  std::string reason;
};

/// The view as lines of at most `width` columns; with colours for a terminal.
[[nodiscard]] std::string render(const Moment& moment, const Inputs& inputs, std::size_t width, bool colours);

/// The same in one line, for logs.
[[nodiscard]] std::string render_line(const Moment& moment, const Inputs& inputs);

/// Draws moments on standard output: over each other on a terminal, as a line every few seconds elsewhere.
class View {
 public:
  /// `live`: draw over the last one. Off when standard output is not a terminal or the user does not want it.
  explicit View(bool live) : live_(live) {}
  void show(const Moment& moment, const Inputs& inputs);
  /// Leaves the last picture where it is: what follows comes below it.
  void finish();

  [[nodiscard]] bool live() const noexcept { return live_; }

 private:
  bool live_;
  std::size_t drawn_ = 0;
  std::pair<unsigned short, unsigned short> size_{};  ///< of the terminal when it was drawn
  double last_line_ = -1;
};

/// Whether standard output is a terminal that can be drawn on.
[[nodiscard]] bool can_draw();

}  // namespace cardan::street
