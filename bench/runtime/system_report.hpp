// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/results/measurement.hpp"
#include "bench/runtime/system.hpp"

namespace cardan::bench {

/// The figures of whole systems, for people and as rows.
struct SystemReport {
  std::optional<StartFigures> start{};
  std::optional<CrashFigures> crash{};
  std::string problem{};  ///< why something was not measured; "": nothing to say

  [[nodiscard]] bool lost() const noexcept { return crash && crash->lost != 0; }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::vector<nlohmann::ordered_json> rows() const;
  /// The same in the form of all results.
  [[nodiscard]] std::vector<Measurement> measurements() const;
};

/// `quick`: fewer crashes. Tells how far it is on stderr. Blocks for about 20 s.
[[nodiscard]] SystemReport measure_system(bool quick, const std::function<bool()>& stopped);

}  // namespace cardan::bench
