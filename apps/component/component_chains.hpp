// SPDX-License-Identifier: Apache-2.0
// The chains that end in components: what was published there within a measurement.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apps/terminal/output.hpp"
#include "src/system/host/component_report.hpp"

namespace cardan::apps {

/// The counts within a measurement; `before` is of the same chain in the same component.
[[nodiscard]] host::ChainReport less(host::ChainReport now, const host::ChainReport& before);
/// The counts of each chain since those of the same name in `before`.
void subtract(std::vector<host::ChainReport>& now, const std::vector<host::ChainReport>& before);

/// `figures` within a measurement, `totals` since the start of the component.
[[nodiscard]] nlohmann::ordered_json chain_json(const host::ChainReport& figures, const host::ChainReport& totals);

/// Rows of the table of callbacks. `component`: its name, in the first row.
void add_chain_rows(Table& table, const std::vector<host::ChainReport>& chains, double seconds, bool narrow,
                    std::string& component);

}  // namespace cardan::apps
