// SPDX-License-Identifier: Apache-2.0
// The stages need OpenCV or PCL, which the rest of the bench does not load: those of a chain are a module next to the
// program, as the peers that need another middleware.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/pipeline/graph.hpp"
#include "bench/transport/area.hpp"

namespace cardan::bench::perception {

/// The stages' input, the same in each process of a run.
struct StageInputs {
  std::string camera{};    ///< a video file, kDrawnStreet; empty: the street video, or drawn where that is missing
  std::string detector{};  ///< an ONNX file; empty: OpenCV's pedestrian detector
  int threads = 0;         ///< of OpenCV in the detector; 0: as many as there are CPUs
  std::string lidar{};     ///< what the demo's --lidar takes; empty: the simulated street
  std::string from{};      ///< a recording, instead of the camera or the LiDAR
  std::string topic{};     ///< in the recording; empty: the only one of its kind
  double rate_hz = 0;      ///< look(): of the run

  /// The options that were given, each followed by its value.
  [[nodiscard]] std::vector<std::string> words() const;
};
inline constexpr const char* kDrawnStreet = "drawn";  ///< of `camera`: pictures that the bench draws

/// Their future input, for the report.
struct LookedAt {
  std::uint32_t width = 0, height = 0;     ///< of the pictures
  std::string camera{}, detector{};        ///< "vtest.avi", "HOG"
  std::string lidar{};                     ///< "simulated street, …"
  std::uint64_t points = 0, filtered = 0;  ///< most points of a scan; most after the preprocessing
  std::vector<std::size_t> link_bytes{};   ///< of a whole message of each link
};

/// The module's functions.
struct StagesModule {
  /// Opens the inputs once. Throws cardan::Error: one cannot be used.
  LookedAt (*look)(const StageInputs& inputs) = nullptr;
  /// Plays a stage of a run, in its own process. Throws cardan::Error.
  void (*play)(const Area& stages, std::uint32_t role, const StageInputs& inputs) = nullptr;
};

/// Whether the chain's module was built.
[[nodiscard]] bool has_stages(const Chain& chain);
/// Why it may not have been, and what to do.
[[nodiscard]] std::string sentence_without_stages(const Chain& chain);
/// Loads it. Throws cardan::Error (Unavailable).
[[nodiscard]] const StagesModule& stages_module(const Chain& chain);

/// Plays the stage that the harness started this process for; returns the exit code.
int play_stage(int area_fd, std::uint32_t role, const Chain& chain, const StageInputs& inputs);

}  // namespace cardan::bench::perception

/// The module's symbol.
extern "C" const cardan::bench::perception::StagesModule* cardan_bench_pipeline_stages();
