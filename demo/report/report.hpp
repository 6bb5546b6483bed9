// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "demo/processes/crash.hpp"
#include "demo/report/measurements.hpp"

namespace cardan::street {

/// The source of the figures, for headings and labels.
struct Inputs {
  std::string camera, lidar;  ///< as the drivers describe them
  bool lidar_simulated = false, camera_drawn = false;
};

/// One run's tables: transport latency per hop and perception to decision. `width`: columns that there is room for; the
/// least important ones are left out.
[[nodiscard]] std::string table(Setup setup, const Figures& figures, const Inputs& inputs, std::size_t width);

/// The measurements of one setup.
struct Measured {
  Setup setup{};
  Figures figures{};
};

/// The setups side by side: median and 99th percentile of each hop, what of the way to a decision the transport takes
/// and what the rest takes, and how many times longer that is for the last setup than for the first. Nothing measured
/// is "-". At most 20 lines. `width` as above.
[[nodiscard]] std::string comparison(const std::vector<Measured>& measured, const Inputs& inputs, std::size_t width);

/// `{"setup": …, "inputs": {"camera", "lidar"}, "hops": […], "decision_us": {…}, "decisions": n}` of the first, and the
/// same from "hops" on under "without_priorities", "one_process" and "unix_socket" of the others; what was not measured
/// is null. Hops of the simulated LiDAR come from "lidar (simulated)", of the drawn street from "camera (drawn)". With
/// a crash: "crash": {…}.
[[nodiscard]] std::string json(const std::vector<Measured>& measured, const Inputs& inputs,
                               const std::optional<Crash>& crash = {});

/// "camera", "camera (drawn)", or "lidar (simulated)".
[[nodiscard]] std::string label_of(Role role, const Inputs& inputs);

}  // namespace cardan::street
