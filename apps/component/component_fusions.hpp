// SPDX-License-Identifier: Apache-2.0
// The rows of `cardan component stats`, what it says of fusions, and what callbacks did within a measurement.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apps/terminal/output.hpp"
#include "src/system/host/component_report.hpp"

namespace cardan::apps {

/// The counts within a measurement. `before` is of the same callback, or of one that was restarted since.
[[nodiscard]] host::CallbackReport less(host::CallbackReport now, const host::CallbackReport& before);
/// The counts within a measurement; `before` is of the same fusion.
[[nodiscard]] host::FusionReport less(host::FusionReport now, const host::FusionReport& before);

/// `figures` within a measurement of this many seconds, `totals` since the start of the component.
[[nodiscard]] nlohmann::ordered_json fusion_json(const host::FusionReport& figures, const host::FusionReport& totals,
                                                 double seconds);

/// Its samples go to a fusion, whose rows have its figures.
[[nodiscard]] bool is_of_a_fusion(const host::ComponentReport& component, const host::CallbackReport& callback);

/// The counted work of a component: calls, and for its fusions the sets.
[[nodiscard]] std::uint64_t calls_of(const host::ComponentReport& component);

/// "p50 / p99", or `narrow` the p99; "-" of none.
[[nodiscard]] std::string percentiles_text(const LatencyHistogram& histogram, bool narrow);

/// The cells of a callback after its name, RATE first. `narrow`: of latencies only the p99.
[[nodiscard]] std::vector<std::string> callback_cells(const host::CallbackReport& figures, double seconds, bool narrow);

/// Rows of the table of callbacks: a fusion, and below it each input's samples, what they cost and what became of them.
/// `of`: the fusion's component. `component`: its name, in the first row.
void add_fusion_rows(Table& table, const host::FusionReport& figures, const host::ComponentReport& of, double seconds,
                     bool narrow, std::string& component);

/// Lines for those that make no set; empty: all do.
[[nodiscard]] std::string silent_fusions(const std::vector<host::ComponentReport>& components);

}  // namespace cardan::apps
