// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/host_role.hpp"

#include <cstdio>

#include "cardan/base/error.hpp"
#include "cardan/config/configuration.hpp"
#include "cardan/system/host/host.hpp"

namespace cardan::test {

int run_as_host(const Args& args) try {
  std::string process;
  host::HostOptions options;
  for (std::size_t i = 1; i + 1 < args.size(); i += 2) {
    if (args[i] == "--process") process = args[i + 1];
    if (args[i] == "--ready-fd") options.ready_fd = std::stoi(args[i + 1]);
    if (args[i] == "--report-fd") options.report_fd = std::stoi(args[i + 1]);
  }
  std::vector<config::Problem> problems;
  const config::Configuration configuration = config::read_configuration(args.at(0), problems);
  for (const auto& problem : problems) std::fputs((config::text(problem, args[0]) + "\n").c_str(), stderr);
  return config::has_errors(problems) ? 2 : host::run_host(configuration, process, options);
} catch (const Error& e) {  // as the command does
  return std::fprintf(stderr, "%s\n", e.what()), e.code() == ErrorCode::InvalidArgument ? 2 : 1;
}

CARDAN_ROLE(host) { return run_as_host(args); }

}  // namespace cardan::test
