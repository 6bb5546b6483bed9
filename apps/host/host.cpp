// SPDX-License-Identifier: Apache-2.0
// `cardan host`: one process of a configuration. `cardan run` starts it, people hardly.
#include "cardan/system/host/host.hpp"
#include "apps/become.hpp"
#include "apps/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "apps/component/components.hpp"
#include "apps/configuration_file.hpp"
#include "apps/run/replay_crash.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/config/configuration.hpp"
#include "cardan/config/problem.hpp"
#include "cardan/system/launcher/adjust.hpp"
#include "cardan/system/launcher/child_process.hpp"
#include "cardan/system/launcher/crash_words.hpp"
#include "cardan/system/launcher/declare.hpp"

namespace cardan::apps {
namespace {

constexpr const char* kHostExamples = R"(Examples:
  cardan host street.json --process perception        one process, as under a debugger: gdb --args cardan host …

SIGTERM and Ctrl-C end it in order.
Exit codes: 0 ended in order, 1 a component did not start, 2 wrong options or file; a signal: it crashed.)";

struct HostCommandOptions {
  std::string file, process, domain;
  std::vector<std::string> set, variables, log_levels, skip, declare, report;
  bool one_process = false;
  host::HostOptions host{};
};

/// The same orders for an interpreter.
std::vector<std::string> words_for_python(const HostCommandOptions& o) {
  std::vector<std::string> words{o.file, "--process", o.process, "--domain", o.domain};
  const auto add = [&](const char* option, const std::vector<std::string>& values) {
    for (const std::string& value : values) words.push_back(fmt::format("{}={}", option, value));
  };
  add("--log-level", o.log_levels);
  add("--skip", o.skip);
  add("--set", o.set);
  add("--var", o.variables);
  if (!o.declare.empty()) words.insert(words.end(), {"--declare", o.declare[0], o.declare[1]});
  if (o.one_process) words.emplace_back("--one-process");
  add("--ready-fd", {std::to_string(o.host.ready_fd)});
  add("--report-fd", {std::to_string(o.host.report_fd)});
  return words;
}

int run_host_command(const HostCommandOptions& o) {
  if (!o.report.empty()) return write_replay_report(o.report);
  std::vector<config::Problem> problems;
  config::Configuration configuration = config::read_configuration(o.file, problems, {.variables = o.variables});
  const bool bad = config::has_errors(problems);
  host::HostOptions host = o.host;
  if (!bad) {
    for (const std::string& assignment : o.set) launcher::set_parameter(configuration, assignment);
    for (const std::string& level : o.log_levels) launcher::set_log_level(configuration, level, host.log_levels);
    if (o.one_process) configuration = launcher::one_process(std::move(configuration));
  }
  if (!bad || !o.declare.empty())
    become_python(configuration, o.declare.empty() ? o.process : o.declare[0], words_for_python(o), !o.declare.empty());
  if (!o.declare.empty())
    return launcher::declare_components(launcher::askable(configuration, problems), o.declare[0],
                                        std::stoul(o.declare[1]), launcher::ChildProcess::kReportFd);
  if (bad) {
    show(problems, o.file);
    return kUsage;
  }
  if (o.process.empty()) throw CLI::RequiredError("--process");
  for (const std::string& sample : o.skip)
    if (const auto poison = launcher::poison_of(sample)) host.poison.push_back(*poison);
  configuration.domain = o.domain.empty() ? launcher::domain_of(configuration) : o.domain;  // else the environment's
  return host::run_host(configuration, o.process, host);
}

}  // namespace

static void add_host_command(CLI::App& app) {
  auto* const command = app.add_subcommand("host", "Run one process of a configuration file")->group("");
  command->footer(kHostExamples);
  auto o = std::make_shared<HostCommandOptions>();
  command->add_option("file", o->file, "The configuration")->required();
  command->add_option("--process", o->process, "Name of the process in the file");
  command->add_option("--domain", o->domain, "Domain of the topics, instead of the file's or $CARDAN_DOMAIN");
  command->add_option("--log-level", o->log_levels, "As the same option of `cardan run`")->allow_extra_args(false);
  command->add_option("--skip", o->skip, "\"COMPONENT SEQUENCE PUBLISH_NS CALLBACK\": a sample to skip");
  command->add_option("--declare", o->declare)->expected(2)->group("");      // how `cardan run` asks before the start
  command->add_option("--write-report", o->report)->expected(5)->group("");  // replay_crash.hpp
  command->add_flag("--one-process", o->one_process, "As the same option of `cardan run`");
  command->add_option("--set", o->set, "component/parameter=value: replaces the file's value")->allow_extra_args(false);
  add_variables_option(*command, o->variables);
  command->add_option("--report-fd", o->host.report_fd, "Descriptor for a crash report (default: standard error)");
  command->add_option("--ready-fd", o->host.ready_fd,
                      "Descriptor that gets \"ready\" when all components have started, and then the exceptions");
  command->callback([o] {
    if (const int code = run_host_command(*o); code != 0) throw CLI::RuntimeError(code);
  });
}

const Command kHostCommand{250, add_host_command};

}  // namespace cardan::apps
