// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/results/measurement.hpp"

namespace cardan::bench {

/// A plot with the figures that it shows, and the commands that measure them again.
struct Plot {
  std::string kind{};  ///< "boxes", "cdf", "fairness", "scaling", "bars": the page's chapters
  std::string title{}, svg{};
  std::vector<std::string> head{};
  std::vector<std::vector<std::string>> rows{};
  std::vector<std::string> commands{};
};

/// What a page shows at most, of each kind and in each plot: a result may have any number of cells.
inline constexpr std::size_t kMostPlots = 80;
inline constexpr std::size_t kMostRowsOfPlot = 150;

/// All plots that these measurements have data for; `left_out` gets how many were too many.
[[nodiscard]] std::vector<Plot> plots_of(const std::vector<const Measurement*>& measurements, std::size_t& left_out);

}  // namespace cardan::bench
