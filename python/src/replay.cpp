// SPDX-License-Identifier: Apache-2.0
// `cardan run FILE --from BAG` where a component is in Python: the command becomes the interpreter, which comes here
// and does what the command would have done, with the same code.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/config/python_component.hpp"
#include "src/replay/run_from.hpp"
#include "src/system/plan/plan.hpp"
#include "src/terminal/output.hpp"
#include "python/src/errors.hpp"
#include "python/src/record_module.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

using Names = std::vector<std::string>;

bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The exit code. `offer(classes, files)` makes the components in Python known.
int replay(int plan_fd, Names files, Names without, std::string output, bool force, const std::string& start,
           const std::string& until, double max_gap, std::optional<double> seconds, std::string json,
           std::string reports, double grace, std::string command, const nb::object& offer) {
  Fd plan{plan_fd};
  const config::Configuration configuration = plan::plan_of(plan.get()).configuration;
  plan.reset();
  Names classes, where;
  for (const config::Process& process : configuration.processes)
    for (const config::Component& component : process.components) {
      if (!config::is_python(component) || contains(without, component.name) || contains(without, process.name))
        continue;
      classes.push_back(component.class_name);
      where.push_back(configuration.file_of(component));
    }
  nb::object done = offer(classes, where);
  replay::RunFromOptions options{.files = std::move(files),
                                 .without = std::move(without),
                                 .output = std::move(output),
                                 .force = force,
                                 .start = replay::recorded_time(start).value_or(replay::RecordedTime{}),
                                 .until = replay::recorded_time(until),
                                 .max_gap = max_gap,
                                 .seconds = seconds,
                                 .json = std::move(json),
                                 .reports = std::move(reports),
                                 .grace = grace};
  if (!command.empty()) options.command = std::move(command);
  const nb::gil_scoped_release others_run;
  std::signal(SIGPIPE, SIG_IGN);
  return terminal::finish_output(replay::run_from(configuration, options));
}

}  // namespace

void bind_replay(nb::module_& m) {
  m.def("_replay", &replay, nb::arg("plan_fd"), nb::arg("files"), nb::arg("without"), nb::arg("output"),
        nb::arg("force"), nb::arg("start"), nb::arg("until"), nb::arg("max_gap"), nb::arg("seconds").none(),
        nb::arg("json"), nb::arg("reports"), nb::arg("grace"), nb::arg("command"), nb::arg("offer"));
}

}  // namespace cardan::python
