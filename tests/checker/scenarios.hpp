// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/transport/protocol/order_table.hpp"
#include "tests/checker/execution.hpp"

namespace cardan::checker {

/// A wrong variant of the code, which the scenario must catch.
struct FaultInfo {
  const char* what;
  Factory factory;
};

struct ScenarioInfo {
  const char* name;
  const char* what;
  std::vector<Site> targets;  ///< the sites whose weakening it is meant to catch; tried first
  Factory factory;
  std::uint64_t random_runs = 0;  ///< too many executions to see them all: that many random ones
  std::vector<FaultInfo> faults{};
};

/// In the order in which they are run.
const std::vector<ScenarioInfo>& scenarios();

// Their parts, a file each.
void add_slot_scenarios(std::vector<ScenarioInfo>& all);
void add_bell_scenarios(std::vector<ScenarioInfo>& all);
void add_life_scenarios(std::vector<ScenarioInfo>& all);
void add_reclaim_scenarios(std::vector<ScenarioInfo>& all);
void add_wait_scenarios(std::vector<ScenarioInfo>& all);
void add_trace_scenarios(std::vector<ScenarioInfo>& all);
void add_sides_scenarios(std::vector<ScenarioInfo>& all);

}  // namespace cardan::checker
