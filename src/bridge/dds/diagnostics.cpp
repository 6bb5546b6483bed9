// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/diagnostics.hpp"

#include <fmt/format.h>

#include "cardan/cdr_writer.hpp"
#include "cardan/messages/header.hpp"
#include "cardan/observer_report.hpp"

namespace cardan::bridge::dds {
namespace {

std::string milliseconds(std::int64_t ns) {
  return ns < 0 ? std::string("-") : fmt::format("{:.3f}", static_cast<double>(ns) / 1e6);
}

Diagnostic of_process(const host::LauncherReport& launcher, const host::LauncherReport::Process& process) {
  Diagnostic d{.level = DiagnosticLevel::Ok,
               .name = fmt::format("cardan: process {}", process.name),
               .message = process.state,
               .hardware = launcher.system,
               .values = {{"pid", std::to_string(process.pid)}, {"restarts", std::to_string(process.restarts)}}};
  if (process.pid == 0 && process.state != "finished")
    d.level = process.state == "given up" ? DiagnosticLevel::Error : DiagnosticLevel::Warn;
  if (d.level == DiagnosticLevel::Ok && process.restarts != 0) {
    d.level = DiagnosticLevel::Warn;
    d.message = fmt::format("{}, restarted {} times", process.state, process.restarts);
  }
  return d;
}

Diagnostic of_component(const host::ComponentReport& component) {
  Diagnostic d{.level = DiagnosticLevel::Ok,
               .name = fmt::format("cardan: component {}", component.name),
               .message = "running",
               .hardware = component.process,
               .values = {{"class", component.class_name},
                          {"process", component.process},
                          {"pid", std::to_string(component.pid)},
                          {"restarts", std::to_string(component.restarts)}}};
  std::uint64_t lost = 0;
  std::uint64_t failures = 0;
  for (const host::CallbackReport& c : component.callbacks) {
    const std::uint64_t dropped = c.queue_full + c.kept + c.missed + c.overruns + c.skipped;
    lost += dropped;
    failures += c.failures;
    d.values.emplace_back(c.name + ": calls", std::to_string(c.calls));
    d.values.emplace_back(c.name + ": lost", std::to_string(dropped));
    d.values.emplace_back(c.name + ": exceptions", std::to_string(c.failures));
    d.values.emplace_back(c.name + ": running p50 ms", milliseconds(latency_percentile(c.running, 50)));
    d.values.emplace_back(c.name + ": running p99 ms", milliseconds(latency_percentile(c.running, 99)));
    d.values.emplace_back(c.name + ": waiting p99 ms", milliseconds(latency_percentile(c.waiting, 99)));
  }
  for (const host::OutputReport& o : component.outputs)
    d.values.emplace_back(o.topic + ": published", std::to_string(o.published));
  std::string silent;
  for (const host::FusionReport& f : component.fusions)
    if (f.silent) silent = f.name + ": " + f.why;
  if (failures != 0) d.message = fmt::format("{} exceptions left callbacks", failures);
  if (failures == 0 && lost != 0) d.message = fmt::format("{} samples lost since its start", lost);
  if (!silent.empty()) d.message = "makes no sets: " + silent;
  if (failures + lost != 0 || !silent.empty()) d.level = DiagnosticLevel::Warn;
  return d;
}

}  // namespace

std::vector<Diagnostic> diagnose(const host::DomainComponents& components, const host::DomainLaunchers& launchers) {
  std::vector<Diagnostic> all;
  for (const host::LauncherReport& launcher : launchers.launchers)
    for (const host::LauncherReport::Process& process : launcher.processes)
      all.push_back(of_process(launcher, process));
  for (const host::ComponentReport& component : components.components) all.push_back(of_component(component));
  for (const host::DownComponent& down : components.down)
    all.push_back({.level = DiagnosticLevel::Error,
                   .name = fmt::format("cardan: component {}", down.name),
                   .message = fmt::format("its process {} is {}", down.process.name, down.process.state),
                   .hardware = down.process.name,
                   .values = {{"class", down.class_name}}});
  for (const std::string& problem : components.problems)
    all.push_back({.level = DiagnosticLevel::Stale, .name = "cardan: a process", .message = problem});
  return all;
}

std::vector<std::byte> diagnostic_array(const std::vector<Diagnostic>& all, std::int64_t stamp) {
  std::vector<std::byte> bytes;
  std::vector<std::byte> unused;
  CdrWriter out(bytes, unused, nullptr);
  const RosTime time = RosTime::from(stamp);
  out.number(time.sec);
  out.number(time.nanosec);
  out.string("");
  out.count(all.size());
  for (const Diagnostic& d : all) {
    out.number(static_cast<std::uint8_t>(d.level));
    out.string(d.name);
    out.string(d.message);
    out.string(d.hardware);
    out.count(d.values.size());
    for (const auto& [key, value] : d.values) {
      out.string(key);
      out.string(value);
    }
  }
  return bytes;
}

}  // namespace cardan::bridge::dds
