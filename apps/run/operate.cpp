// SPDX-License-Identifier: Apache-2.0
// Orders of operators to a system that runs: its components, and to stop or start them again.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/component/components.hpp"
#include "apps/component/others.hpp"
#include "apps/decode.hpp"
#include "apps/run_place.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/error.hpp"
#include "cardan/stop.hpp"
#include "src/config/suggest.hpp"

namespace cardan::apps {
namespace {

using namespace std::chrono_literals;

constexpr auto kOrderTime = 30s;  ///< for a process to end, and to start
constexpr const char* kNoneRuns = "none runs here; check CARDAN_RUN_DIR and the domain.";

int order_process(host::ControlClient& client, const host::DomainLaunchers& all, const std::string& process,
                  bool starts) {
  std::vector<const host::LauncherReport*> its;
  std::vector<std::string> names;
  for (const host::LauncherReport& launcher : all.launchers)
    for (const auto& p : launcher.processes) {
      names.push_back(p.name);
      if (p.name == process) its.push_back(&launcher);
    }
  if (stopping()) {
    warn(fmt::format("interrupted: nothing was asked of process '{}'", process));
    return kFailed;
  }
  if (its.empty() && !names.empty())
    for (const host::ComponentReport& c : client.components().components)
      if (c.name == process) {
        warn(fmt::format(
            "'{}' is a component, of process '{}' — cardan run --{} {}{}", process, c.process,
            starts ? "restart" : "stop", c.process,
            starts ? fmt::format(", or for the component alone cardan component restart {}", process) : ""));
        return kFailed;
      }
  if (its.size() != 1) {
    warn(its.empty() ? fmt::format("no running system has a process '{}' — {}", process,
                                   names.empty() ? why_none(all.others, kNoneRuns)
                                                 : config::suggestion(process, names, kNoneRuns))
                     : fmt::format("{} systems here have a process '{}' — give each `cardan run` its own domain",
                                   its.size(), process));
    return kFailed;
  }
  try {
    const host::ControlClient::Ordered done = client.order(*its.front(), process, starts, kOrderTime);
    const char* how = done.killed ? ": it did not end by itself, and was killed" : "";
    const std::string words = starts ? fmt::format("{} runs again (pid {}){}\n", printable(process), done.pid, how)
                                     : fmt::format("{} is stopped{}\n", printable(process), how);
    return emit(words) && !done.killed ? kOk : kFailed;
  } catch (const Error& e) {  // the launcher's word, not the command line's fault
    warn(e.what());
    return kFailed;
  }
}

/// The process of a component that is down: the others of that process start too.
int start_process_of(host::ControlClient& client, const host::DownComponent& down, bool json) {
  stop_on_signals();
  try {
    const auto done = client.order(down.launcher, down.process.name, true, kOrderTime);
    if (json)
      return emit(one_line({{"component", down.name},
                            {"process", down.process.name},
                            {"pid", done.pid},
                            {"was", down.process.state}}) +
                  "\n")
                 ? kOk
                 : kFailed;
    return emit(fmt::format("{} runs again: its process {}, which was {}, has been started (pid {})\n",
                            printable(down.name), printable(down.process.name), printable(down.process.state),
                            done.pid))
               ? kOk
               : kFailed;
  } catch (const Error& e) {
    warn(e.what());
    return kFailed;
  }
}

}  // namespace

host::DomainComponents components_there(host::ControlClient& client, bool files) {
  host::DomainComponents all = client.components(files);
  for (const std::string& problem : all.problems) warn(problem);
  warn_of_others(all.others);
  return all;
}

host::DomainComponents components_there(const std::string& domain, bool files) {
  if (nothing_runs_yet()) return {};
  host::ControlClient client({.domain = domain});
  return components_there(client, files);
}

int no_such_component(const host::DomainComponents& there, const std::string& name) {
  std::vector<std::string> names;
  for (const host::ComponentReport& c : there.components) names.push_back(c.name);
  for (const host::DownComponent& c : there.down) {
    names.push_back(c.name);
    if (c.name != name) continue;
    warn(fmt::format("component '{}' does not run: its process '{}' is {} — cardan component restart {} starts it",
                     name, c.process.name, c.process.state, name));
    return kFailed;
  }
  warn(fmt::format("no component '{}' runs — {}", name,
                   names.empty() ? why_none(there.others, kNoneRuns) : config::suggestion(name, names, kNoneRuns)));
  return kFailed;
}

int restart_component(const std::string& domain, const std::string& name, bool json) {
  host::ControlClient client({.domain = domain});
  const host::DomainComponents there = components_there(client);
  std::vector<const host::ComponentReport*> running;
  std::vector<const host::DownComponent*> down;
  for (const host::ComponentReport& c : there.components)
    if (c.name == name) running.push_back(&c);
  for (const host::DownComponent& c : there.down)
    if (c.name == name) down.push_back(&c);
  if (running.size() + down.size() > 1) {
    warn(fmt::format("{} components are called '{}' — give each `cardan run` of this computer its own domain",
                     running.size() + down.size(), name));
    return kFailed;
  }
  if (!down.empty()) return start_process_of(client, *down.front(), json);
  if (running.empty()) return no_such_component(there, name);
  const host::ComponentReport& component = *running.front();
  try {
    const auto done = client.restart_component(component);
    if (json)
      return emit(one_line({{"component", component.name},
                            {"process", component.process},
                            {"pid", component.pid},
                            {"took_ms", done.took_ms},
                            {"restarts", done.restarts}}) +
                  "\n")
                 ? kOk
                 : kFailed;
    return emit(fmt::format("{} runs again after {:.1f} ms\n", printable(component.name), done.took_ms)) ? kOk
                                                                                                         : kFailed;
  } catch (const Error& e) {  // the component's word, not the command line's fault
    warn(e.what());
    return kFailed;
  }
}

int order_processes(const std::string& domain, const std::vector<std::string>& processes, bool starts) {
  refuse_missing_run_directory();
  stop_on_signals();
  host::ControlClient client({.domain = domain});
  const host::DomainLaunchers all = client.launchers();
  for (const std::string& problem : all.problems) warn(problem);
  warn_of_others(all.others);
  int code = kOk;
  std::vector<std::string> done;
  for (const std::string& process : processes) {
    if (std::find(done.begin(), done.end(), process) != done.end()) continue;  // named twice
    done.push_back(process);
    if (order_process(client, all, process, starts) != kOk) code = kFailed;
  }
  return code;
}

}  // namespace cardan::apps
