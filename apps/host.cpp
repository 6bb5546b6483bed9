// SPDX-License-Identifier: Apache-2.0
// `cardan host`: one process of a configuration. `cardan run` starts it, people hardly.
#include "cardan/runtime/host/host.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "apps/components.hpp"
#include "apps/configuration_file.hpp"
#include "apps/output.hpp"
#include "cardan/runtime/config/configuration.hpp"
#include "cardan/runtime/config/problem.hpp"
#include "cardan/runtime/launcher/adjust.hpp"

namespace cardan::apps {
namespace {

constexpr const char* kExamples = R"(Examples:
  cardan host street.json --process perception        one process, as under a debugger: gdb --args cardan host …

Ends in order with SIGTERM and Ctrl-C.
Exit codes: 0 ended in order, 1 a component did not start, 2 wrong options or file; a signal: it crashed.)";

struct Options {
  std::string file, process;
  std::vector<std::string> set, variables;
  bool one_process = false;
  host::HostOptions host{};
};

int run(const Options& o) {
  std::vector<config::Problem> problems;
  config::Configuration configuration = config::read_configuration(o.file, problems, {.variables = o.variables});
  if (config::has_errors(problems)) {
    for (const config::Problem& problem : problems) fmt::print(stderr, "{}\n", config::text(problem, o.file));
    return kUsage;
  }
  for (const std::string& assignment : o.set) launcher::set_parameter(configuration, assignment);
  if (o.one_process) configuration = launcher::one_process(std::move(configuration));
  configuration.domain = launcher::domain_of(configuration);  // else the environment's
  return host::run_host(configuration, o.process, o.host);
}

}  // namespace

void add_host_command(CLI::App& app) {
  auto* const command = app.add_subcommand("host", "Run one process of a configuration file")->group("");
  command->footer(kExamples);
  auto o = std::make_shared<Options>();
  command->add_option("file", o->file, "The configuration")->required();
  command->add_option("--process", o->process, "Name of the process in the file")->required();
  command->add_flag("--one-process", o->one_process, "As `cardan run` with this option");
  command->add_option("--set", o->set, "component/parameter=value, instead of what the file says")
      ->allow_extra_args(false);
  add_variables_option(*command, o->variables);
  command->add_option("--report-fd", o->host.report_fd, "Descriptor for a crash report (default: standard error)");
  command->add_option("--ready-fd", o->host.ready_fd, "Descriptor that is told \"ready\" when all have started");
  command->callback([o] {
    if (const int code = run(*o); code != 0) throw CLI::RuntimeError(code);
  });
}

}  // namespace cardan::apps
