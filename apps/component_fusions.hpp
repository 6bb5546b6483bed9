// SPDX-License-Identifier: Apache-2.0
// What `cardan component stats` says of fusions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/output.hpp"
#include "cardan/runtime/host/component_report.hpp"

namespace cardan::apps {

/// What was counted within a measurement; `before` is of the same fusion.
[[nodiscard]] host::FusionReport less(host::FusionReport now, const host::FusionReport& before);

/// `figures` within a measurement of so many seconds, `totals` since the start of the component.
[[nodiscard]] nlohmann::ordered_json fusion_json(const host::FusionReport& figures, const host::FusionReport& totals,
                                                 double seconds);

/// Rows of the table of callbacks: a fusion, and below it each input's samples and what became of them.
void add_fusion_rows(Table& table, const host::FusionReport& figures, double seconds, std::string& component);

/// Lines for those that make no set; empty: all do.
[[nodiscard]] std::string silent_fusions(const std::vector<host::ComponentReport>& components);

}  // namespace cardan::apps
