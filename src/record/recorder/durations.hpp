// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "cardan/observer_report.hpp"
#include "cardan/recorder_report.hpp"
#include "src/runtime/executor/histogram.hpp"

namespace cardan::record {

/// Durations of one kind: how many, their sum, and how they are spread. One thread; add() allocates nothing.
class Durations {
 public:
  void add(std::int64_t ns) noexcept {
    histogram_.add(ns);
    sum_ += ns;
    ++count_;
  }
  [[nodiscard]] DurationReport report() const {
    const LatencyHistogram counts = histogram_.counts();
    const std::int64_t most = histogram_.longest();  // exact; a percentile is the middle of a bucket, which may be more
    return {.count = count_,
            .sum = sum_,
            .p50 = std::min(latency_percentile(counts, 50), most),
            .p99 = std::min(latency_percentile(counts, 99), most),
            .most = most};
  }

 private:
  Histogram histogram_;
  std::int64_t sum_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace cardan::record
