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
#include "bench/results/occasion.hpp"

namespace cardan::bench::perception {

/// A mix over all its runs.
struct PipelineRow {
  Mix mix{};
  std::vector<PipelineRun> runs{};
  bool stolen = false;  ///< a run was disturbed in all its repetitions

  /// A member of each run, or of a stage's figures of each run.
  template <class T>
  [[nodiscard]] std::vector<T> each(T PipelineRun::* which) const {
    std::vector<T> all;
    for (const PipelineRun& run : runs) all.push_back(run.*which);
    return all;
  }
  template <class T>
  [[nodiscard]] std::vector<T> each(std::uint32_t role, T StageFigures::* which) const {
    std::vector<T> all;
    for (const PipelineRun& run : runs) all.push_back(run.stages.at(role).*which);
    return all;
  }
  /// The median over the runs.
  [[nodiscard]] double ratio_percent(std::uint32_t role) const;
};

struct PipelineReport : Occasion {
  LookedAt inputs{};
  PipelineOptions options{};
  std::vector<PipelineRow> rows{};
};

/// Pictures, results and torn messages that links made by `cardan` lost.
[[nodiscard]] std::uint64_t lost_by_cardan(const PipelineRow& row, const Chain& chain);

/// "vtest.avi, 768 × 576 at 5 Hz · detector HOG"
[[nodiscard]] std::string name_of_inputs(const PipelineReport& report);

[[nodiscard]] std::string to_table(const PipelineReport& report);
inline constexpr double kMphInMps = 0.44704;
/// By how much a vehicle brakes later that decides `later_ms` later: SIM's d = v · Δt. In m.
[[nodiscard]] constexpr double braking_distance(double speed_mph, double later_ms) noexcept {
  return speed_mph * kMphInMps * later_ms / 1000;
}

/// docs/benchmarking.md explains each field.
[[nodiscard]] nlohmann::ordered_json to_json(const PipelineReport& report);
/// The figures in the form of all results.
[[nodiscard]] std::vector<Measurement> measurements_of(const PipelineReport& report);

}  // namespace cardan::bench::perception
