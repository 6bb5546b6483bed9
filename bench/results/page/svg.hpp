// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cardan::bench {

/// Colours and dashes of lines; more series than this share them.
inline constexpr int kSeries = 8;

/// What all plots have.
struct PlotFrame {
  std::string id{};     ///< unique in the page
  std::string title{};  ///< read by those who cannot see the plot, with `description`
  std::string description{};
  std::string axis{};  ///< of the values: "transport, us"
};

/// A row of a box plot.
struct Box {
  std::string section{};  ///< a new one gets a heading
  std::string label{};
  int series = 0;
  double p5 = 0, p25 = 0, p50 = 0, p75 = 0, p95 = 0, p99 = 0;
};

/// A line of a line plot: points by ascending x.
struct Line {
  std::string label{};
  int series = 0, dash = 0;
  std::vector<std::pair<double, double>> points{};
};

struct LineAxes {
  std::string x{};  ///< "size, bytes"
  bool log_x = true, log_y = true;
};

/// A bar with its whisker.
struct Bar {
  std::string section{}, label{};
  int series = 0;
  double value = 0, low = 0, high = 0;
};

// Each is an <svg> element without style and script of its own: the page's classes give colours (page.cpp). A
// logarithmic axis is linear where the values have no logarithm.
[[nodiscard]] std::string box_plot(const PlotFrame& frame, const std::vector<Box>& boxes);
[[nodiscard]] std::string line_plot(const PlotFrame& frame, const std::vector<Line>& lines, const LineAxes& axes);
[[nodiscard]] std::string bar_plot(const PlotFrame& frame, const std::vector<Bar>& bars);

}  // namespace cardan::bench
