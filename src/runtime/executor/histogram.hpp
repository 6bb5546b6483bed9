// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "cardan/detail/atomic.hpp"
#include "cardan/observer_report.hpp"
#include "src/transport/protocol/layout.hpp"

namespace cardan {

/// Distribution of a time span: four buckets for each octave from 64 ns on, as in the transport.
/// Thread safety: one thread at a time adds, any thread reads. Never blocks.
class Histogram {
 public:
  void add(std::int64_t ns) noexcept {
    auto& bucket = buckets_[layout::latency_bucket(ns)];
    bucket.store(bucket.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (ns > longest_.load(std::memory_order_relaxed)) longest_.store(ns, std::memory_order_relaxed);
  }
  [[nodiscard]] std::int64_t longest() const noexcept { return longest_.load(std::memory_order_relaxed); }
  /// The buckets that are not empty, for latency_percentile().
  [[nodiscard]] LatencyHistogram counts() const {
    LatencyHistogram all;
    for (std::uint32_t i = 0; i < buckets_.size(); ++i)
      if (const std::uint32_t n = buckets_[i].load(std::memory_order_relaxed); n != 0) all.emplace_back(i, n);
    return all;
  }

 private:
  std::array<Atomic<std::uint32_t>, 128> buckets_{};
  Atomic<std::int64_t> longest_{0};
};

}  // namespace cardan
