// SPDX-License-Identifier: Apache-2.0
#include "demo/processes/crash.hpp"

#include <fmt/format.h>

namespace cardan::street {
namespace {

std::string at(double ms, const char* what) {
  return ms < 0 ? fmt::format("  {:>8}     {}: did not happen\n", "-", what)
                : fmt::format("  {:>8.1f} ms  {}\n", ms, what);
}

}  // namespace

Crash what_followed(const launcher::Supervisor& supervisor, const std::string& component, std::int64_t at,
                    const Figures& figures) {
  Crash crash{.component = component};
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-6; };
  const config::Process* process = supervisor.configuration().process_of(component);
  if (process == nullptr) return crash;
  crash.process = process->name;
  crash.alone = process->components.size() == 1;
  for (const launcher::ProcessStatus& status : supervisor.processes()) {
    if (status.name != crash.process) continue;
    for (const launcher::Outage& outage : status.outages) {
      if (outage.noticed_ns < at) continue;
      crash.cause = outage.cause;
      crash.report = outage.report;
      crash.noticed_ms = ms(outage.noticed_ns - at);
      if (outage.started_ns != 0) crash.back_off_ms = ms(outage.started_ns - outage.noticed_ns);
      if (outage.ready_ns != 0) {
        crash.running_again_ms = ms(outage.ready_ns - at);
        crash.start_up_ms = ms(outage.ready_ns - outage.started_ns);
      }
      break;
    }
  }
  for (const auto& change : supervisor.changes()) {
    if (change.at_ns < at) continue;
    if (change.to == config::State::Degraded && crash.degraded_ms < 0) crash.degraded_ms = ms(change.at_ns - at);
    if (change.to == config::State::Running && crash.degraded_ms >= 0 && crash.recovered_ms < 0)
      crash.recovered_ms = ms(change.at_ns - at);
  }
  for (std::size_t i = 0; i < kHops; ++i) {
    if (name_of(kHopList[i].from) != component && name_of(kHopList[i].to) != component)
      crash.lost += figures.hops[i].missed;
  }
  return crash;
}

std::string text(const Crash& c) {
  std::string out = fmt::format("Crash of {} on purpose (process {} {})\n", c.component, c.process,
                                c.cause.empty() ? "its end was not observed" : c.cause);
  out += at(c.noticed_ms, "noticed");
  out += at(c.degraded_ms, "state: degraded");
  out += at(c.running_again_ms, fmt::format("runs again, after {:.1f} ms of back-off and {:.1f} ms of its own start",
                                            c.back_off_ms, c.start_up_ms)
                                    .c_str());
  out += at(c.recovered_ms, "state: running");
  out += c.alone ? fmt::format("  {:>8}     frames lost between the others\n", c.lost)
                 : "  all components are in one process: all were down, and all are back\n";
  if (!c.report.empty()) out += fmt::format("  report: {}\n", c.report);
  return out;
}

}  // namespace cardan::street
