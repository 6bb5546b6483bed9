// SPDX-License-Identifier: Apache-2.0
#include "demo/report/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cardan::street {

double percentile(const std::vector<double>& sorted, double fraction) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double position = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - static_cast<double>(below));
}

Summary summarize(std::vector<double> values) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return {0, nan, nan, nan, nan, nan, nan, nan};
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double v : values) sum += v;
  const double mean = sum / n;
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  const double std = values.size() > 1 ? std::sqrt(squares / (n - 1)) : 0.0;
  return {values.size(),
          values.front(),
          mean,
          percentile(values, 0.50),
          percentile(values, 0.95),
          percentile(values, 0.99),
          values.back(),
          std};
}

}  // namespace cardan::street
