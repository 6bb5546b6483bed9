// SPDX-License-Identifier: Apache-2.0
#include "bench/results/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace cardan::bench {
namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Two passes: latencies are small differences on a large mean, where the one-pass formula cancels.
double deviation_of(std::span<const double> values, double mean) {
  if (values.size() < 2) return 0;
  double sum = 0;
  for (const double v : values) sum += (v - mean) * (v - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

}  // namespace

double percentile(std::span<const double> sorted, double fraction) noexcept {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double part = position - static_cast<double>(below);
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

Summary summarize(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  Summary s;
  s.count = samples.size();
  s.min = samples.front();
  s.max = samples.back();
  s.mean = mean_of(samples);
  s.p50 = percentile(samples, 0.50);
  s.p95 = percentile(samples, 0.95);
  s.p99 = percentile(samples, 0.99);
  s.std = deviation_of(samples, s.mean);
  return s;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return percentile(values, 0.5);
}

double student_t95(std::size_t degrees_of_freedom) noexcept {
  static constexpr std::array<double, 30> kTable{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                                 2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                                 2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  if (degrees_of_freedom == 0) return 0;
  if (degrees_of_freedom <= kTable.size()) return kTable[degrees_of_freedom - 1];
  // The first terms of the Cornish-Fisher expansion around the normal quantile: below 0.001 off from 30 on.
  const double z = 1.959964;
  const double v = static_cast<double>(degrees_of_freedom);
  const double z3 = z * z * z;
  return z + (z3 + z) / (4 * v) + (5 * z3 * z * z + 16 * z3 + 3 * z) / (96 * v * v);
}

std::optional<std::pair<double, double>> confidence95(std::span<const double> run_means) {
  if (run_means.size() < 2) return std::nullopt;
  const double mean = mean_of(run_means);
  const double half = student_t95(run_means.size() - 1) * deviation_of(run_means, mean) /
                      std::sqrt(static_cast<double>(run_means.size()));
  return std::pair{mean - half, mean + half};
}

}  // namespace cardan::bench
