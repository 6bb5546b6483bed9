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
  [[nodiscard]] std::vector<double> pooled(std::uint32_t role, std::vector<double> StageFigures::* which) const;
  [[nodiscard]] std::vector<double> pooled(std::vector<double> PipelineRun::* which) const;
  [[nodiscard]] std::uint64_t sum(std::uint32_t role, std::uint64_t StageFigures::* which) const;
  /// The median over the runs.
  [[nodiscard]] double ratio_percent(std::uint32_t role) const;
  [[nodiscard]] double median_of(std::uint32_t role, double StageFigures::* which) const;
  [[nodiscard]] double median_of(double PipelineRun::* which) const;
  [[nodiscard]] double achieved_rate_hz() const { return median_of(&PipelineRun::achieved_rate_hz); }
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
[[nodiscard]] std::uint64_t lost_by_cardan(const PipelineRow& row, const Chain& chain);

/// The row whose mean of the whole is the greatest. Null: there are fewer than two.
[[nodiscard]] const PipelineRow* slowest(const PipelineReport& report);
/// "vtest.avi, 768 × 576 at 5 Hz · detector HOG"
[[nodiscard]] std::string name_of_inputs(const PipelineReport& report);

[[nodiscard]] std::string to_table(const PipelineReport& report);
/// docs/benchmarking.md explains each field.
[[nodiscard]] nlohmann::ordered_json to_json(const PipelineReport& report);
/// The figures in the form of all results.
[[nodiscard]] std::vector<Measurement> measurements_of(const PipelineReport& report);

}  // namespace cardan::bench::perception
