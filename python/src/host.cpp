// SPDX-License-Identifier: Apache-2.0
// Processes of `cardan run` that have components in Python. `cardan host` becomes the interpreter, which comes here:
// the host is the same, so that supervision, parameters and statistics are.
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "cardan/config/configuration.hpp"
#include "cardan/config/problem.hpp"
#include "cardan/config/python_component.hpp"
#include "cardan/system/host/host.hpp"
#include "cardan/system/launcher/adjust.hpp"
#include "cardan/system/launcher/child_process.hpp"
#include "cardan/system/launcher/crash_words.hpp"
#include "cardan/system/launcher/declare.hpp"
#include "python/src/component.hpp"
#include "python/src/errors.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

using Words = std::vector<std::string>;

/// As `cardan host` reads its file: the same options.
struct HostFile {
  std::vector<config::Problem> problems;  // before `configuration`, whose reader fills it
  config::Configuration configuration;
  host::HostOptions options;

  HostFile(const std::string& file, const Words& variables, const Words& set, const Words& log_levels, bool one_process)
      : configuration(config::read_configuration(file, problems, {.variables = variables})) {
    if (config::has_errors(problems)) return;
    for (const std::string& assignment : set) launcher::set_parameter(configuration, assignment);
    for (const std::string& level : log_levels) launcher::set_log_level(configuration, level, options.log_levels);
    if (one_process) configuration = launcher::one_process(std::move(configuration));
  }

  /// The folders of the files that name components in Python of the process: where their modules are.
  [[nodiscard]] Words offer(const std::string& process) const {
    Words folders;
    const config::Process* const found = configuration.process(process);
    if (found == nullptr) return folders;
    for (const config::Component& component : found->components) {
      if (!config::is_python(component)) continue;
      offer_class(component.class_name);
      folders.push_back(configuration.file_of(component));
    }
    return folders;
  }
};

/// Puts the modules' folders first, and takes the program's way of making instances.
void prepare(const Words& files, nb::object prepare_and_make) {
  nb::object make = prepare_and_make(files);
  set_factory(std::move(make));
}

int run(const std::string& file, const std::string& process, const std::string& domain, const Words& variables,
        const Words& set, const Words& log_levels, const Words& skip, bool one_process, int ready_fd, int report_fd,
        nb::object prepare_and_make) {
  HostFile given(file, variables, set, log_levels, one_process);
  if (config::has_errors(given.problems)) {
    for (const config::Problem& p : given.problems)
      std::fputs(fmt::format("cardan: error: {}, line {}: {} — {}\n", p.file.empty() ? file : p.file, p.line, p.cause,
                             p.remedy)
                     .c_str(),
                 stderr);
    return 2;
  }
  prepare(given.offer(process), std::move(prepare_and_make));
  for (const std::string& sample : skip)
    if (const auto poison = launcher::poison_of(sample)) given.options.poison.push_back(*poison);
  given.options.ready_fd = ready_fd;
  given.options.report_fd = report_fd;
  given.configuration.domain = domain.empty() ? launcher::domain_of(given.configuration) : domain;
  const nb::gil_scoped_release others_run;
  return host::run_host(given.configuration, process, given.options);
}

int declare(const std::string& file, const std::string& process, std::size_t first, const Words& variables,
            const Words& set, const Words& log_levels, bool one_process, nb::object prepare_and_make) {
  HostFile given(file, variables, set, log_levels, one_process);
  const config::Configuration askable = launcher::askable(given.configuration, given.problems);
  prepare(given.offer(process), std::move(prepare_and_make));
  const nb::gil_scoped_release others_run;
  return launcher::declare_components(askable, process, first, launcher::ChildProcess::kReportFd);
}

}  // namespace

void bind_host(nb::module_& m) {
  m.def("_run_host", &run, nb::arg("file"), nb::arg("process"), nb::arg("domain"), nb::arg("variables"), nb::arg("set"),
        nb::arg("log_levels"), nb::arg("skip"), nb::arg("one_process"), nb::arg("ready_fd"), nb::arg("report_fd"),
        nb::arg("prepare"));
  m.def("_declare", &declare, nb::arg("file"), nb::arg("process"), nb::arg("first"), nb::arg("variables"),
        nb::arg("set"), nb::arg("log_levels"), nb::arg("one_process"), nb::arg("prepare"));
}

}  // namespace cardan::python
