// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/pipeline/options.hpp"
#include "bench/transport/crew.hpp"

namespace cardan::bench::perception {

/// What one run says of a stage; of the frames after the discarded ones. Times in ms.
struct StageFigures {
  std::vector<double> transport{};   ///< finders: picture published → in hand
  std::vector<double> processing{};  ///< in hand → the result is ready
  std::vector<double> results{};     ///< finders: result published → in the fusion's hands
  std::uint64_t due = 0;             ///< finders: pictures; fusion: frames
  std::uint64_t lost = 0;            ///< of those, without an intact picture in the stage; fusion: not joined
  std::uint64_t results_lost = 0;    ///< finders: results that the stage had, and the fusion did not get
  std::uint64_t torn = 0;            ///< messages that changed under the stage's hands
  double found = 0;                  ///< of a frame: lines, boxes, tracks; fusion: things in the lane
  double cpu_percent = 0;            ///< of a core
  /// Median of the transmission over the median of the processing, in percent: Table III of "Oops!". 0: neither.
  [[nodiscard]] double ratio_percent() const;
};

struct PipelineRun {
  std::array<StageFigures, kStages.size()> stages{};
  std::vector<double> targets{};  ///< detections published → in the tracker's hands
  std::vector<double> whole{};    ///< from just before the picture's publish to the fused result
  std::uint64_t refused = 0;      ///< pictures and results for which a link had no memory
  double achieved_rate_hz = 0;    ///< of the camera
  double steal_percent = 0, other_load_percent = 0;

  [[nodiscard]] const StageFigures& stage(Stage which) const { return stages[role_of(which)]; }
  [[nodiscard]] StageFigures& stage(Stage which) { return stages[role_of(which)]; }
};

struct PipelineOutcome {
  PipelineRun run{};
  std::string failure{};     ///< in words; empty: the run is complete
  bool interrupted = false;  ///< somebody pressed Ctrl-C
};

/// Measures one mix once. Trouble is a `failure`, not an exception; every process that it started is gone when it
/// returns.
[[nodiscard]] PipelineOutcome run_pipeline_once(const Mix& mix, const PipelineOptions& options,
                                                std::size_t picture_message_bytes, const std::string& run_dir,
                                                QuietSignals& signals);

/// The figures of what the stages left in the graph's areas.
[[nodiscard]] PipelineRun evaluate_pipeline(const Graph& graph);

}  // namespace cardan::bench::perception
