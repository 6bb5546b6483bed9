// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/results/measurement.hpp"
#include "bench/runtime/fusion.hpp"

namespace cardan::bench {

/// A way to fuse, over all runs.
struct FusionRow {
  FusionWay way{};
  std::uint32_t runs = 0;
  std::uint64_t sets = 0;
  double steal_percent = 0;  ///< the greatest of a run
  double late_us = 0;        ///< the greatest of a run
  bool stolen = false;
  struct Channel {
    std::vector<MeasuredRun> latency_runs{};
    std::vector<double> used_percent{};  ///< of each run
    std::vector<double> latency_us{};
    std::uint64_t sent = 0, used = 0, dropped = 0, waiting = 0, lost = 0;
  };
  std::array<Channel, kFusionChannels> channels{};
  std::vector<MeasuredRun> latency_runs{};  ///< of all channels together
  std::vector<double> latency_us{};

  void add(const FusionRun& run);
  [[nodiscard]] std::uint64_t sent() const noexcept;
  [[nodiscard]] std::uint64_t lost() const noexcept;
};

/// Measures all ways, a round after the other, and says what came out for people and as rows.
class FusionReport {
 public:
  /// `options` outlives it.
  explicit FusionReport(const RuntimeBenchOptions& options);

  /// Runs each way once, in an order that rotates with the rounds, and again where the host took too much of a run.
  /// Ends when `stopped()` says so. Blocks for about 4 × fusion_cycles × 100 ms. `tell`: what starts now.
  void run_round(std::uint32_t round, const std::function<bool()>& stopped,
                 const std::function<void(const std::string&)>& tell);

  [[nodiscard]] const std::vector<FusionRow>& all() const noexcept { return rows_; }
  [[nodiscard]] bool lost() const noexcept;  ///< before the fusion: samples that a policy drops do not count
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::vector<nlohmann::ordered_json> rows() const;
  /// The same in the form of all results.
  [[nodiscard]] std::vector<Measurement> measurements() const;

 private:
  const RuntimeBenchOptions& options_;
  std::vector<FusionRow> rows_;
};

}  // namespace cardan::bench
