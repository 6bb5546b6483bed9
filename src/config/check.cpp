// SPDX-License-Identifier: Apache-2.0
#include "src/config/check.hpp"

#include "src/config/check_parts.hpp"

namespace cardan::config {

std::vector<Problem> check(const Configuration& configuration, const Declarations& declared, const Machine& machine) {
  std::vector<Problem> found;
  ProblemList problems(configuration, found);
  check_machine(configuration, machine, problems);
  check_components(configuration, declared, problems);
  check_topics(configuration, declared, machine, problems);
  check_services(configuration, declared, problems);
  check_chain_ways(configuration, declared, problems);
  check_ways_back(configuration, problems);
  sort(found);
  return found;
}

std::vector<Problem> check_machine(const Configuration& configuration, const Machine& machine) {
  std::vector<Problem> found;
  ProblemList problems(configuration, found);
  check_machine(configuration, machine, problems);
  sort(found);
  return found;
}

}  // namespace cardan::config
