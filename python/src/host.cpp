// SPDX-License-Identifier: Apache-2.0
// Processes of `cardan run` that have components in Python. `cardan host` becomes the interpreter, which comes here:
// the host is the same, so that supervision, parameters and statistics are.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "src/config/python_component.hpp"
#include "src/system/host/crash_report.hpp"
#include "src/system/host/host.hpp"
#include "src/system/launcher/child_process.hpp"
#include "src/system/launcher/crash_details.hpp"
#include "src/system/launcher/declare.hpp"
#include "src/system/plan/plan.hpp"
#include "src/transport/discovery/process.hpp"
#include "python/src/component.hpp"
#include "python/src/errors.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

/// The signal at which faulthandler writes a stack: a signal that nothing else sends.
int stack_signal() { return SIGRTMAX - 7; }

void prepare_stack(int fd) {
  const nb::gil_scoped_acquire here;
  try {
    nb::module_::import_("faulthandler")
        .attr("register")(stack_signal(), nb::arg("file") = fd, nb::arg("all_threads") = false);
  } catch (const nb::python_error&) {
    host::crash_report::know_interpreter({});  // the report is without it
  }
}

/// In the handler of a crash: faulthandler's own handler runs at once, and writes what the interpreter runs on this
/// thread.
void write_stack() {
  struct sigaction now{};
  // The interpreter has ended, or a component has taken the signal: it would end the process.
  if (::sigaction(stack_signal(), nullptr, &now) != 0 || now.sa_handler == SIG_DFL) return;
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, stack_signal());
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  ::raise(stack_signal());
}

using Words = std::vector<std::string>;

/// Takes over the descriptor of a sealed plan.
plan::Plan take_plan(int fd) {
  const Fd owner{fd};
  return plan::plan_of(fd);
}

/// Offers the classes of the process, and gives the files that name them: their modules are next to these.
Words offer(const plan::Plan& plan, const std::string& process) {
  Words files;
  const config::Process* const found = plan.configuration.process(process);
  if (found == nullptr) return files;
  for (const config::Component& component : found->components) {
    if (!config::is_python(component)) continue;
    offer_class(component.class_name);
    files.push_back(plan.configuration.file_of(component));
  }
  return files;
}

/// Puts the modules' folders first, and takes the program's way of making instances.
void prepare(const Words& files, const nb::object& prepare_and_make) {
  nb::object make = prepare_and_make(files);
  set_factory(std::move(make));
}

/// For a process that is started by hand: the plan of its file, sealed.
int make_plan(const std::string& file, const Words& variables, const Words& set, const std::string& domain) {
  return plan::seal(plan::make_plan(file, {.variables = variables, .set = set, .domain = domain})).release();
}

int run(int plan_fd, const std::string& process, const Words& skip, int ready_fd, int report_fd,
        const nb::object& prepare_and_make) {
  const plan::Plan plan = take_plan(plan_fd);
  prepare(offer(plan, process), prepare_and_make);
  host::HostOptions options{.ready_fd = ready_fd, .report_fd = report_fd, .log_levels = plan.log_levels};
  for (const std::string& sample : skip)
    if (const auto poison = launcher::poison_of(sample)) options.poison.push_back(*poison);
  const nb::gil_scoped_release others_run;
  return host::run_host(plan.configuration, process, options);
}

int declare(int plan_fd, const std::string& process, std::size_t first, const nb::object& prepare_and_make) {
  const plan::Plan plan = take_plan(plan_fd);
  prepare(offer(plan, process), prepare_and_make);
  const nb::gil_scoped_release others_run;
  return launcher::declare_components(plan.configuration, process, first, launcher::ChildProcess::kReportFd);
}

}  // namespace

void bind_host(nb::module_& m) {
  host::crash_report::know_interpreter({.prepare = prepare_stack, .write_stack = write_stack});
  m.def("_set_program_name", &detail::set_program_name, nb::arg("name"));
  m.def("_make_plan", &make_plan, nb::arg("file"), nb::arg("variables"), nb::arg("set"), nb::arg("domain"));
  m.def("_run_host", &run, nb::arg("plan_fd"), nb::arg("process"), nb::arg("skip"), nb::arg("ready_fd"),
        nb::arg("report_fd"), nb::arg("prepare"));
  m.def("_declare", &declare, nb::arg("plan_fd"), nb::arg("process"), nb::arg("first"), nb::arg("prepare"));
}

}  // namespace cardan::python
