// SPDX-License-Identifier: Apache-2.0
#include "demo/report/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cardan::street {
namespace {

constexpr double kNormal95 = 1.96;
constexpr std::size_t kLeast = 6;

}  // namespace

double percentile(const std::vector<double>& sorted, double fraction) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double position = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - static_cast<double>(below));
}

Summary summarize(std::vector<double> values) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return {0, nan, nan, nan, nan, nan, nan, nan, nan, nan};
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double v : values) sum += v;
  const double mean = sum / n;
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  const double std = values.size() > 1 ? std::sqrt(squares / (n - 1)) : 0.0;
  const double p50 = percentile(values, 0.50);
  double p50_within = nan;
  double mean_within = nan;
  if (values.size() >= kLeast) {
    // The ranks between which the median lies in 95 of 100 such sets: the binomial distribution, as a normal one.
    const double ranks = kNormal95 * std::sqrt(n) / 2 / (n - 1);
    p50_within = std::max(percentile(values, 0.5 + ranks) - p50, p50 - percentile(values, 0.5 - ranks));
    mean_within = kNormal95 * std / std::sqrt(n);
  }
  return {
      values.size(), values.front(), mean,       p50, percentile(values, 0.95), percentile(values, 0.99), values.back(),
      std,           p50_within,     mean_within};
}

}  // namespace cardan::street
