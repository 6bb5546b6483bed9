// SPDX-License-Identifier: Apache-2.0
// Measurements whose truth is known, for tests.
#pragma once

#include <cmath>
#include <random>
#include <utility>

#include "bench/results/measurement.hpp"

namespace cardan::bench {

struct Synthetic {
  std::uint64_t seed = 1;
  double shift_us = 0;  ///< added to each sample
  int runs = 5;
  int samples = 80;       ///< of a run
  double run_spread = 0;  ///< deviation of a run's own factor, in logarithms
};

/// Latencies of about 100 µs with a long tail.
inline Measurement synthetic(const Synthetic& s) {
  Measurement m{.part = "transport",
                .peer = "cardan",
                .setup = "block",
                .cell = "1p1s",
                .quantity = "transport",
                .unit = "us",
                .bytes = 4096,
                .rate_hz = 100,
                .publishers = 1,
                .readers = 1};
  std::mt19937_64 random(s.seed);
  std::normal_distribution<double> normal;
  for (int run = 0; run < s.runs; ++run) {
    const double factor = std::exp(s.run_spread * normal(random));
    std::vector<double> samples;
    for (int i = 0; i < s.samples; ++i) samples.push_back(100 * factor * std::exp(0.25 * normal(random)) + s.shift_us);
    m.runs.push_back(make_run(std::move(samples)));
  }
  return m;
}

inline Result result_of(std::vector<Measurement> measurements) {
  Result result;
  result.source = "synthetic";
  result.host = {{"cpu", "Some CPU"}, {"kernel", "Linux 6.1"}};
  result.measurements = std::move(measurements);
  return result;
}

}  // namespace cardan::bench
