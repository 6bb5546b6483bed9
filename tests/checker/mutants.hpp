// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "src/transport/protocol/order_table.hpp"
#include "tests/checker/env.hpp"
#include "tests/checker/scenarios.hpp"

namespace cardan::checker {

const char* name_of(std::memory_order order);
/// The next weaker orders for that kind of access, and those below them.
std::vector<std::memory_order> weaker(Kind kind, std::memory_order order);

struct Mutant {
  Site site;
  std::memory_order order;
  std::string scenario;  ///< that caught it; empty: it survived
  Result result;
};

Limits limits_of(const ScenarioInfo& scenario);
/// Every scenario with the orders of the table. Prints a line for each; false if one fails or cannot be seen to its
/// end.
bool run_protocols(Execution& execution);
/// Every weakening of every site (or of `only`), each until a scenario catches it. Prints a line for each.
std::vector<Mutant> run_mutants(Execution& execution, const Site* only);
/// Every wrong variant of a scenario, and every write and fence left out. Prints a line for each; false if one is not
/// caught.
bool run_faults(Execution& execution);
/// Prints a failure: what, the trace, and how to see it again.
void print_failure(const ScenarioInfo& scenario, const Result& result, const std::string& weaken);

}  // namespace cardan::checker
