// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "cardan/detail/atomic.hpp"
#include "cardan/observer_report.hpp"
#include "src/transport/protocol/layout.hpp"

namespace cardan::detail {

/// Counts the work of a server. Any thread; never blocks.
class ServiceStatistics {
 public:
  void taken() noexcept { taken_.fetch_add(1, std::memory_order_relaxed); }
  void expired() noexcept { expired_.fetch_add(1, std::memory_order_relaxed); }
  void declined() noexcept { declined_.fetch_add(1, std::memory_order_relaxed); }
  /// `ns`: since it was asked.
  void answered(std::int64_t ns) noexcept {
    answered_.fetch_add(1, std::memory_order_relaxed);
    buckets_[layout::latency_bucket(ns)].fetch_add(1, std::memory_order_relaxed);
    std::int64_t longest = longest_.load(std::memory_order_relaxed);
    while (ns > longest && !longest_.compare_exchange_weak(longest, ns, std::memory_order_relaxed)) {
    }
  }

  [[nodiscard]] ServiceReport report() const {
    ServiceReport report{.taken = taken_.load(std::memory_order_relaxed),
                         .answered = answered_.load(std::memory_order_relaxed),
                         .declined = declined_.load(std::memory_order_relaxed),
                         .expired = expired_.load(std::memory_order_relaxed),
                         .longest_ns = longest_.load(std::memory_order_relaxed)};
    for (std::uint32_t i = 0; i < buckets_.size(); ++i)
      if (const std::uint32_t n = buckets_[i].load(std::memory_order_relaxed); n != 0) report.answer.emplace_back(i, n);
    return report;
  }

 private:
  Atomic<std::uint64_t> taken_{0}, answered_{0}, declined_{0}, expired_{0};
  Atomic<std::int64_t> longest_{0};
  std::array<Atomic<std::uint32_t>, 128> buckets_{};
};

}  // namespace cardan::detail
