// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "examples/street/measurements.hpp"

namespace cardan::street {

/// What the figures are of, for headings and labels.
struct Inputs {
  std::string camera, lidar;  ///< as the drivers describe them
  bool lidar_simulated = false;
};

/// One run's tables: transport latency per hop and perception to decision.
[[nodiscard]] std::string table(Transport transport, const Figures& figures, const Inputs& inputs);

/// The two runs side by side, per hop, as a ratio of medians; only hops that both have measured.
[[nodiscard]] std::string comparison(const Figures& cardan, const Figures& socket, const Inputs& inputs);

/// `{"hops": […], "decision_us": {…}, "decisions": n, "unix_socket": {the same}}`; what was not measured is null.
/// Hops of the simulated LiDAR come from "lidar (simulated)". Without a second run there is no "unix_socket".
[[nodiscard]] std::string json(const Figures& cardan, const std::optional<Figures>& socket, const Inputs& inputs);

/// "camera", or "lidar (simulated)".
[[nodiscard]] std::string label_of(Role role, const Inputs& inputs);

}  // namespace cardan::street
