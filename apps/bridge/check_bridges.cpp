// SPDX-License-Identifier: Apache-2.0
#include "apps/bridge/check_bridges.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "apps/become.hpp"
#include "cardan/error.hpp"
#include "src/bridge/rules.hpp"
#include "src/system/launcher/own_program.hpp"

namespace cardan::apps {

static void check_one_bridge(const config::Configuration& configuration, const config::Process& process,
                             std::vector<config::Problem>& problems) {
  using config::Severity;
  const config::Bridge& bridge = *process.bridge;
  const auto add = [&](const char* key, Severity severity, std::string cause, std::string remedy) {
    problems.push_back(config::problem_at(configuration, config::join(bridge.pointer, key), severity, std::move(cause),
                                          std::move(remedy)));
  };
  if (launcher::own_program("cardan-bridge-" + bridge.kind).empty())
    add("kind", Severity::Error, fmt::format("this build has no cardan-bridge-{}", bridge.kind),
        kInWheel ? "install Cardan from its sources, whose scripts/setup.sh installs what it needs"
                 : "scripts/setup.sh installs what it needs; then build again");
  if (bridge.file.empty()) return;
  bridge::Rules rules;
  std::vector<config::Problem> found;
  try {
    bridge::read_rules(bridge.file, rules, found);
  } catch (const Error& e) {
    add("file", Severity::Error, e.cause(), e.remedy());
    return;
  }
  for (config::Problem& problem : found) {
    problem.file = bridge.file;
    problems.push_back(std::move(problem));
  }
  if (!rules.domain.empty() && rules.domain != configuration.domain)
    add("file", Severity::Warning,
        fmt::format("its rules name the domain '{}', and this file is for '{}'", rules.domain, configuration.domain),
        "remove \"domain\" from the rules: a bridge of `cardan run` is in the domain of the system");
}

std::vector<config::Problem> check_bridges(const config::Configuration& configuration) {
  std::vector<config::Problem> problems;
  for (const config::Process& process : configuration.processes)
    if (process.bridge && !process.bridge->kind.empty()) check_one_bridge(configuration, process, problems);
  return problems;
}

}  // namespace cardan::apps
