// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/pipeline/options.hpp"
#include "bench/pipeline/run.hpp"
#include "bench/pipeline/stages.hpp"
#include "bench/results/measurement.hpp"
#include "bench/transport/host.hpp"

namespace cardan::bench::perception {

/// A mix over all its runs.
struct PipelineRow {
  Mix mix{};
  std::vector<PipelineRun> runs{};
  bool stolen = false;  ///< a run was disturbed in all its repetitions

  /// All samples of the runs.
  [[nodiscard]] std::vector<double> pooled(Stage stage, std::vector<double> StageFigures::* which) const;
  [[nodiscard]] std::vector<double> pooled(std::vector<double> PipelineRun::* which) const;
  [[nodiscard]] std::uint64_t sum(Stage stage, std::uint64_t StageFigures::* which) const;
  /// The median over the runs.
  [[nodiscard]] double ratio_percent(Stage stage) const;
  [[nodiscard]] double median_of(Stage stage, double StageFigures::* which) const;
  [[nodiscard]] double achieved_rate_hz() const;
};

struct PipelineReport {
  Host host{};
  double steal_percent = 0;
  bool interrupted = false;
  LookedAt inputs{};
  PipelineOptions options{};
  std::vector<PipelineRow> rows{};
  std::vector<std::string> left_out{}, failures{};
};

/// Pictures, results and torn messages that links made by `cardan` lost.
[[nodiscard]] std::uint64_t lost_by_cardan(const PipelineRow& row);

[[nodiscard]] std::string to_table(const PipelineReport& report);
/// docs/benchmarking.md explains each field.
[[nodiscard]] nlohmann::ordered_json to_json(const PipelineReport& report);
/// The figures in the form of all results.
[[nodiscard]] std::vector<Measurement> measurements_of(const PipelineReport& report);

}  // namespace cardan::bench::perception
