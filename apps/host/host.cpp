// SPDX-License-Identifier: Apache-2.0
// `cardan host`: one process of a configuration. `cardan run` starts it, people hardly.
#include "src/system/host/host.hpp"
#include "apps/become.hpp"
#include "apps/command.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "apps/component/components.hpp"
#include "apps/configuration_file.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/error.hpp"
#include "src/config/python_component.hpp"
#include "src/replay/replay_crash.hpp"
#include "src/system/launcher/child_process.hpp"
#include "src/system/launcher/crash_details.hpp"
#include "src/system/launcher/declare.hpp"
#include "src/system/plan/plan.hpp"

namespace cardan::apps {
namespace {

constexpr const char* kHostExamples = R"(Examples:
  cardan host street.json --process perception        one process, as under a debugger: gdb --args cardan host …

SIGTERM and Ctrl-C end it in order.
Exit codes: 0 ended in order, 1 a component did not start, 2 wrong options or file; a signal: it crashed.)";

struct HostCommandOptions {
  std::string file, process;
  plan::PlanOptions changes{};
  int plan_fd = -1;  ///< instead of the file
  std::vector<std::string> skip, declare, report;
  host::HostOptions host{};
};

/// Where a component of the process is in Python, the interpreter takes over, with the same orders.
void become_python_of(const plan::Plan& plan, const HostCommandOptions& o) {
  const bool declares = !o.declare.empty();
  const std::string& process = declares ? o.declare[0] : o.process;
  const config::Process* const found = plan.configuration.process(process);
  if (found == nullptr || !config::is_python(*found)) return;
  const Fd made = o.plan_fd < 0 ? plan::seal(plan) : Fd{};
  const int plan_fd = made ? made.get() : o.plan_fd;
  if (::fcntl(plan_fd, F_SETFD, 0) != 0) throw Error(ErrorCode::System, "cannot hand over the plan", "");
  std::vector<std::string> words{"--plan-fd", std::to_string(plan_fd)};
  if (declares)
    words.insert(words.end(), {"--declare", o.declare[0], o.declare[1]});
  else
    words.insert(words.end(), {"--process", process, "--ready-fd", std::to_string(o.host.ready_fd), "--report-fd",
                               std::to_string(o.host.report_fd)});
  for (const std::string& sample : o.skip) words.push_back("--skip=" + sample);
  become_python(plan.configuration, process, words, declares);
}

int run_host_command(const HostCommandOptions& o) {
  if (!o.report.empty()) return replay::write_replay_report(o.report);
  if (o.plan_fd < 0 && o.file.empty()) throw CLI::RequiredError("file");
  if (o.process.empty() && o.declare.empty()) throw CLI::RequiredError("--process");
  std::vector<config::Problem> problems;
  const plan::Plan plan = o.plan_fd >= 0 ? plan::plan_of(o.plan_fd) : plan::make_plan(o.file, o.changes, problems);
  if (config::has_errors(problems)) {
    show(problems, o.file);
    return kUsage;
  }
  become_python_of(plan, o);
  if (o.plan_fd >= 0) ::close(o.plan_fd);
  if (!o.declare.empty())
    return launcher::declare_components(plan.configuration, o.declare[0], std::stoul(o.declare[1]),
                                        launcher::ChildProcess::kReportFd);
  host::HostOptions host = o.host;
  host.log_levels = plan.log_levels;
  for (const std::string& sample : o.skip)
    if (const auto poison = launcher::poison_of(sample)) host.poison.push_back(*poison);
  return host::run_host(plan.configuration, o.process, host);
}

}  // namespace

static void add_host_command(CLI::App& app) {
  auto* const command = app.add_subcommand("host", "Run one process of a configuration file")->group("");
  command->footer(kHostExamples);
  auto o = std::make_shared<HostCommandOptions>();
  command->add_option("file", o->file, "The configuration");
  command->add_option("--process", o->process, "Name of the process in the file");
  command->add_option("--plan-fd", o->plan_fd)->group("");  // how `cardan run` gives the configuration
  command->add_option("--skip", o->skip, "\"COMPONENT SEQUENCE PUBLISH_NS CALLBACK\": a sample to skip");
  command->add_option("--declare", o->declare)->expected(2)->group("");      // how `cardan run` asks before the start
  command->add_option("--write-report", o->report)->expected(5)->group("");  // replay_crash.hpp
  add_plan_options(*command, o->changes);
  command->add_option("--report-fd", o->host.report_fd, "Descriptor for a crash report (default: standard error)");
  command->add_option("--ready-fd", o->host.ready_fd,
                      "Descriptor that gets \"ready\" when all components have started, and then the exceptions");
  command->callback([o] {
    if (const int code = run_host_command(*o); code != 0) throw CLI::RuntimeError(code);
  });
}

const Command kHostCommand{250, add_host_command};

}  // namespace cardan::apps
