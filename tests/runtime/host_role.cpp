// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/host_role.hpp"

#include <cstdio>

#include "cardan/error.hpp"
#include "src/system/host/host.hpp"
#include "src/system/plan/plan.hpp"

namespace cardan::test {

int run_as_host(const Args& args) try {
  std::string process;
  host::HostOptions options;
  int plan_fd = -1;
  const std::size_t first = !args.empty() && !args[0].starts_with("--") ? 1 : 0;
  for (std::size_t i = first; i + 1 < args.size(); i += 2) {
    if (args[i] == "--process") process = args[i + 1];
    if (args[i] == "--plan-fd") plan_fd = std::stoi(args[i + 1]);
    if (args[i] == "--ready-fd") options.ready_fd = std::stoi(args[i + 1]);
    if (args[i] == "--report-fd") options.report_fd = std::stoi(args[i + 1]);
  }
  std::vector<config::Problem> problems;
  const plan::Plan plan = plan_fd >= 0 ? plan::plan_of(plan_fd) : plan::make_plan(args.at(0), {}, problems);
  for (const auto& problem : problems) std::fputs((config::text(problem, args[0]) + "\n").c_str(), stderr);
  return config::has_errors(problems) ? 2 : host::run_host(plan.configuration, process, options);
} catch (const Error& e) {  // as the command does
  return std::fprintf(stderr, "%s\n", e.what()), e.code() == ErrorCode::InvalidArgument ? 2 : 1;
}

CARDAN_ROLE(host) { return run_as_host(args); }

}  // namespace cardan::test
