// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cardan/transport/order_table.hpp"
#include "tests/checker/execution.hpp"

namespace cardan::checker {

struct ScenarioInfo {
  const char* name;
  const char* what;
  std::vector<Site> targets;  ///< the sites whose weakening it is meant to catch; tried first
  Factory factory;
  std::uint64_t random_runs = 0;  ///< too many executions to see them all: that many random ones
};

/// In the order in which they are run.
const std::vector<ScenarioInfo>& scenarios();

// Their parts, a file each.
void add_slot_scenarios(std::vector<ScenarioInfo>& all);
void add_bell_scenarios(std::vector<ScenarioInfo>& all);
void add_life_scenarios(std::vector<ScenarioInfo>& all);

}  // namespace cardan::checker
