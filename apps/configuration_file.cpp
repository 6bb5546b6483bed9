// SPDX-License-Identifier: Apache-2.0
#include "apps/configuration_file.hpp"

#include <CLI/CLI.hpp>

#include "apps/terminal/output.hpp"

namespace cardan::apps {

void add_variables_option(CLI::App& command, std::vector<std::string>& variables) {
  command.add_option("--var", variables, "name=value: sets a variable of the file; repeatable");
}

void add_plan_options(CLI::App& command, plan::PlanOptions& options) {
  add_variables_option(command, options.variables);
  command.add_option("--parameters", options.parameters, "Values that `cardan param save` wrote; --set overrides them");
  command.add_option("--set", options.set, "component/parameter=value: replaces the file's value")
      ->allow_extra_args(false);
  command.add_option("--remap", options.remap, "/name:=/other: gives a topic another name on the bus; repeatable")
      ->allow_extra_args(false);
  command.add_flag("--one-process", options.one_process, "All components in one process");
  command
      .add_option("--log-level", options.log_levels,
                  "[COMPONENT=]debug|info|warning|error: the least level of what components log by Context::log()")
      ->allow_extra_args(false);
  command.add_option("--domain", options.domain, "Domain of the topics, instead of the file's or $CARDAN_DOMAIN");
}

void show(const std::vector<config::Problem>& problems, const std::string& file) {
  for (const config::Problem& problem : problems) complain(printable(config::text(problem, file)) + "\n");
}

}  // namespace cardan::apps
