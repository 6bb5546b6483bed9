// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace cardan::bench {

/// The figures of SIM's tables, plus the median: in the unit of the samples.
struct Summary {
  std::size_t count = 0;
  double min = 0, mean = 0, p50 = 0, p95 = 0, p99 = 0, max = 0;
  double std = 0;  ///< sample standard deviation (n − 1); 0 with fewer than two samples
};

/// Sorts its copy of the samples. No samples: all zero with count 0.
Summary summarize(std::vector<double> samples);

/// The percentile by linear interpolation between the closest ranks (as numpy's default), `sorted` ascending and not
/// empty, `fraction` in [0, 1].
double percentile(std::span<const double> sorted, double fraction) noexcept;

/// The middle one, or the mean of the two in the middle; 0 without values.
double median(std::vector<double> values);

/// Two-sided 95 % quantile of Student's t; from 1 degree of freedom, exact to three decimals up to 30.
double student_t95(std::size_t degrees_of_freedom) noexcept;

/// 95 % confidence interval of the mean of independent runs, from their means. Fewer than two runs say nothing: empty.
std::optional<std::pair<double, double>> confidence95(std::span<const double> run_means);

}  // namespace cardan::bench
