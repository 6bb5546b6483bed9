// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bench/results/measurement.hpp"

namespace cardan::bench {

/// How a quantile of a measurement would vary if it were measured again: its bootstrap distribution, sorted. Runs are
/// drawn with replacement, and samples within each of them: a computer's state lasts for a run, so that the samples of
/// one run are not independent of each other. `rounds` figures at most; of many samples fewer, so that the time stays
/// bounded (some hundred milliseconds). Empty: no samples. The same `seed` gives the same figures.
[[nodiscard]] std::vector<double> bootstrap_quantile(const std::vector<MeasuredRun>& runs, double fraction,
                                                     std::uint64_t seed, std::size_t rounds = 1000);

/// 95 % interval of the median. Fewer than five samples say nothing: empty.
[[nodiscard]] std::optional<std::pair<double, double>> median_interval95(const Measurement& m);

/// Quantile of the standard normal distribution, `probability` in (0, 1).
[[nodiscard]] double normal_quantile(double probability) noexcept;

}  // namespace cardan::bench
