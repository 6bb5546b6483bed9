// SPDX-License-Identifier: Apache-2.0
#include "cardan/config/check.hpp"

#include "cardan/config/checks.hpp"

namespace cardan::config {

std::vector<Problem> check(const Configuration& configuration, const Declarations& declared, const Machine& machine) {
  std::vector<Problem> problems;
  Complaints complaints(configuration, problems);
  check_machine(configuration, machine, complaints);
  check_components(configuration, declared, complaints);
  check_topics(configuration, declared, complaints);
  sort(problems);
  return problems;
}

std::vector<Problem> check_machine(const Configuration& configuration, const Machine& machine) {
  std::vector<Problem> problems;
  Complaints complaints(configuration, problems);
  check_machine(configuration, machine, complaints);
  sort(problems);
  return problems;
}

}  // namespace cardan::config
