// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace cardan::street {

/// The figures that SIM's tables give for a set of latencies, in the unit of the values.
/// With no values `count` is 0 and every figure is NaN (`null` in JSON): nothing measured is not "0".
struct Summary {
  std::size_t count = 0;
  double min, mean, p50, p95, p99, max, std;
  /// Half of the 95 % interval of the median (by ranks, whatever the distribution) and of the mean (normal). NaN for
  /// fewer than 6 values, which give no such interval.
  double p50_within, mean_within;
};

/// Percentiles interpolate linearly between the two nearest values; `std` is that of a sample (n - 1), 0 for one value.
/// Thread-safe; allocates.
[[nodiscard]] Summary summarize(std::vector<double> values);

/// The value below which `fraction` (0…1) of the ascending `sorted` values lie; NaN without values.
[[nodiscard]] double percentile(const std::vector<double>& sorted, double fraction);

}  // namespace cardan::street
