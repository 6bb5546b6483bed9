// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/pipeline/options.hpp"
#include "bench/transport/crew.hpp"

namespace cardan::bench::perception {

/// One run's figures of a stage; of the frames after the discarded ones. Times in ms.
struct StageFigures {
  std::vector<double> transport{};   ///< input published → in hand
  std::vector<double> processing{};  ///< in hand → the result is ready
  std::vector<double> latency{};     ///< of the LiDAR's: both together
  std::vector<double> results{};     ///< finders: result published → in the fusion's hands
  std::uint64_t due = 0;             ///< messages of the stage before; of the first one, and for the fusion: frames
  std::uint64_t lost = 0;            ///< of those, without an intact input in the stage; fusion: not joined
  std::uint64_t results_lost = 0;    ///< that the stage had, and did not publish or the fusion did not get
  std::uint64_t torn = 0;            ///< messages that changed under the stage's hands
  double found = 0;                  ///< of a frame: lines, boxes, tracks; fusion: things in the lane; docs say what
  double cpu_percent = 0;            ///< of a core
  /// Median of the transmission over the median of the processing, in percent: Table III of "Oops!". 0: neither.
  [[nodiscard]] double ratio_percent() const;
};

struct PipelineRun {
  std::array<StageFigures, kMostStages> stages{};  ///< by role
  std::vector<double> targets{};                   ///< detections published → in the tracker's hands
  std::vector<double> whole{};  ///< from just before the first publish to the result of the last stage
  std::uint64_t frames_due = 0, frames_lost = 0;  ///< of the whole
  std::uint64_t refused = 0;                      ///< messages for which a link had no memory
  double achieved_rate_hz = 0;                    ///< of the first stage
  double ndt_hz = 0;                              ///< poses of the localization; 0: it has none
  double steal_percent = 0, other_load_percent = 0;
};

struct PipelineOutcome {
  PipelineRun run{};
  std::string failure{};     ///< in words; empty: the run is complete
  bool interrupted = false;  ///< somebody pressed Ctrl-C
};

/// Measures one mix once. Trouble is a `failure`, not an exception; every process that it started is gone when it
/// returns.
[[nodiscard]] PipelineOutcome run_pipeline_once(const Mix& mix, const PipelineOptions& options,
                                                std::span<const std::size_t> link_bytes, const std::string& run_dir,
                                                QuietSignals& signals);

/// The figures of what the stages left in the graph's areas.
[[nodiscard]] PipelineRun evaluate_pipeline(const Graph& graph);

}  // namespace cardan::bench::perception
