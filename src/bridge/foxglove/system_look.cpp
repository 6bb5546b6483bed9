// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/system_look.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/configuration.hpp"
#include "src/base/text_of_json.hpp"
#include "src/system/launcher/usage.hpp"
#include "src/transport/endpoint/publisher_contract.hpp"
#include "src/transport/service/found_service.hpp"

namespace cardan::bridge::foxglove {
namespace {

using nlohmann::json;

constexpr std::size_t kKeptChanges = 32;
constexpr std::size_t kMostProblems = 16;  ///< of processes that do not answer

std::string system_dump(const json& value) { return text_of_json(value); }

json subscriber_json(const SubscriberReport& s, const LatencyHistogram& recent, const LatencyHistogram& recent_ages) {
  return {{"program", s.name},
          {"pid", s.pid},
          {"received", s.received},
          {"missed", s.missed},
          {"p50_ns", latency_percentile(s.latency, 50)},
          {"p99_ns", latency_percentile(s.latency, 99)},
          {"recent_p50_ns", latency_percentile(recent, 50)},
          {"recent_p99_ns", latency_percentile(recent, 99)},
          {"age_p50_ns", latency_percentile(recent_ages.empty() ? s.age : recent_ages, 50)},
          {"age_p99_ns", latency_percentile(recent_ages.empty() ? s.age : recent_ages, 99)}};
}

std::string shown_program(const std::string& name, int pid) { return fmt::format("{} ({})", name, pid); }

json value_of(const config::Value& value) {
  return std::visit([](const auto& v) { return json(v); }, value);
}

json parameter_json(const host::ComponentReport& component, const host::ParameterReport& p) {
  json one{{"name", component.name + "/" + p.name},
           {"description", p.description},
           {"value", value_of(p.value)},
           {"real", std::holds_alternative<double>(p.value)},
           {"fixed", p.fixed}};
  if (p.min) one["min"] = value_of(*p.min);
  if (p.max) one["max"] = value_of(*p.max);
  return one;
}

json chain_json(const host::ChainReport& c) {
  const host::ChainHopReport* const slowest = host::slowest_of(c);
  return {{"name", c.chain},
          {"from", c.from},
          {"to", c.to},
          {"slowest", slowest == nullptr ? "" : slowest->component},
          {"p50_ns", latency_percentile(c.age, 50)},
          {"p99_ns", latency_percentile(c.age, 99)},
          {"greatest_ns", c.age.empty() ? -1 : c.greatest_age},
          {"budget_ns", c.budget_ns},
          {"late", c.late}};
}

json component_json(const host::ComponentReport& c) {
  json chains = json::array();
  for (const host::ChainReport& chain : c.chains) chains.push_back(chain_json(chain));
  json callbacks = json::array(), parameters = json::array(), outputs = json::array();
  for (const host::CallbackReport& b : c.callbacks)
    callbacks.push_back({{"name", b.name},
                         {"kind", host::name_of(b.kind)},
                         {"topic", b.topic},
                         {"calls", b.calls},
                         {"failures", b.failures},
                         {"lost", b.queue_full + b.kept + b.missed},
                         {"overruns", b.overruns},
                         {"p50_ns", latency_percentile(b.running, 50)},
                         {"p99_ns", latency_percentile(b.running, 99)},
                         {"transport_p50_ns", latency_percentile(b.transport, 50)},
                         {"transport_p99_ns", latency_percentile(b.transport, 99)},
                         {"running_since", b.running_since}});
  for (const host::ParameterReport& p : c.parameters) parameters.push_back(parameter_json(c, p));
  for (const host::OutputReport& o : c.outputs) outputs.push_back({{"topic", o.topic}, {"published", o.published}});
  return {{"name", c.name},           {"class", c.class_name},  {"process", c.process},   {"pid", c.pid},
          {"state", "running"},       {"restarts", c.restarts}, {"callbacks", callbacks}, {"outputs", outputs},
          {"parameters", parameters}, {"chains", chains}};
}

/// `recent`: since the last look.
json service_json(const std::string& name, const PublisherReport& card, const LatencyHistogram& recent) {
  const ServiceReport& r = card.service;
  return {{"name", name},
          {"program", card.program},
          {"pid", card.pid},
          {"serial", card.serial},
          {"clients", card.subscribers.size() + card.left_out},
          {"answered", r.answered},
          {"failed", r.declined + r.expired},
          {"p50_ns", latency_percentile(recent.empty() ? r.answer : recent, 50)},
          {"p99_ns", latency_percentile(recent.empty() ? r.answer : recent, 99)}};
}

const char* state_name(config::State state) {
  switch (state) {
    case config::State::Starting:
      return "starting";
    case config::State::Running:
      return "running";
    case config::State::Degraded:
      return "degraded";
    case config::State::SafeStop:
      return "safe stop";
    case config::State::Stopped:
      return "stopped";
  }
  return "unknown";  // another process may have written any number
}

json system_json(const host::DomainComponents& components, const host::DomainLaunchers& launchers) {
  json all = json::array(), processes = json::array(), problems = json::array();
  for (const host::ComponentReport& c : components.components) all.push_back(component_json(c));
  for (const host::DownComponent& down : components.down)
    all.push_back({{"name", down.name},
                   {"class", down.class_name},
                   {"process", down.process.name},
                   {"pid", 0},
                   {"state", down.process.state},
                   {"restarts", down.process.restarts},
                   {"callbacks", json::array()},
                   {"outputs", json::array()},
                   {"parameters", json::array()}});
  for (const host::LauncherReport& launcher : launchers.launchers)
    for (const host::LauncherReport::Process& p : launcher.processes)
      processes.push_back({{"system", launcher.system},
                           {"name", p.name},
                           {"state", p.state},
                           {"pid", p.pid},
                           {"restarts", p.restarts}});
  for (const auto* const texts : {&components.problems, &launchers.problems})
    for (const std::string& problem : *texts) problems.push_back(problem);
  return {{"time_ns", steady_now()}, {"components", all}, {"processes", processes}, {"problems", problems}};
}

}  // namespace

LatencyHistogram LatencyHistory::since(const Key& key, const LatencyHistogram& now) {
  now_[key] = now;
  const auto before = before_.find(key);
  return before == before_.end() ? now : latency_since(now, before->second);
}

void LatencyHistory::next() { before_ = std::exchange(now_, {}); }

Look look_of(const DomainReport& report, const Rules& rules, LatencyHistory& history) {
  Look look;
  json topics = json::array(), services = json::array(), processes = json::array(), problems = json::array();
  std::set<int> pids;
  history.next();
  for (const PublisherReport& p : report.publishers) {
    if (p.topic.starts_with("/cardan/")) continue;
    if (detail::is_of_service(p.topic)) {
      const std::string name = detail::service_of(p.topic);
      if (const TopicRule* const rule = rule_for(rules.out, name, p.type))
        services.push_back(
            service_json(name_beyond(*rule, name), p,
                         history.since({p.process, p.serial, 0, 0, LatencyHistory::What::Answer}, p.service.answer)));
      continue;
    }
    const TopicRule* const rule = rule_for(rules.out, p.topic, p.type);
    if (rule == nullptr) continue;
    const std::string topic = name_beyond(*rule, p.topic);
    pids.insert(p.pid);
    look.graph.published[topic].insert(shown_program(p.program, p.pid));
    json subscribers = json::array();
    for (std::size_t i = 0; i < p.subscribers.size(); ++i) {
      const SubscriberReport& s = p.subscribers[i];
      if (s.pid == ::getpid()) continue;
      pids.insert(s.pid);
      look.graph.subscribed[topic].insert(shown_program(s.name, s.pid));
      const auto recent = [&](LatencyHistory::What what, const LatencyHistogram& now) {
        return history.since({p.process, p.serial, s.pid, i, what}, now);
      };
      subscribers.push_back(subscriber_json(s, recent(LatencyHistory::What::Transport, s.latency),
                                            recent(LatencyHistory::What::Age, s.age)));
    }
    topics.push_back({{"topic", topic},
                      {"bus", p.topic},
                      {"type", p.type},
                      {"program", p.program},
                      {"pid", p.pid},
                      {"serial", p.serial},
                      {"published", p.published},
                      {"bytes", p.bytes},
                      {"subscribers", std::move(subscribers)}});
  }
  for (const int pid : pids)
    if (const auto usage = launcher::usage_of(pid))
      processes.push_back({{"pid", pid}, {"cpu_seconds", usage->cpu_seconds}, {"memory_bytes", usage->memory_bytes}});
  for (const std::string& problem : report.problems)
    if (problems.size() < kMostProblems) problems.push_back(problem);
  look.json = system_dump({{"time_ns", steady_now()},
                           {"wall_ms", wall_now() / 1'000'000},
                           {"publishers", std::move(topics)},
                           {"services", std::move(services)},
                           {"processes", std::move(processes)},
                           {"problems", std::move(problems)}});
  return look;
}

std::string system_text(const host::DomainComponents& components, const host::DomainLaunchers& launchers) {
  return system_dump(system_json(components, launchers));
}

void SystemWatch::take_states() {
  if (!states_) states_ = std::make_unique<Subscriber<SystemState>>(kSystemState, SubscriberOptions{.domain = domain_});
  for (std::size_t i = 0; i < kKeptChanges; ++i) {
    const Sample<SystemState> state = states_->take();
    if (!state) break;
    changes_.push_back({.system = std::string(std::string_view(state->system)),
                        .state = state_name(state->state),
                        .previous = state_name(state->previous),
                        .reason = std::string(std::string_view(state->reason)),
                        .wall_ns = state->since_ns + (wall_now() - steady_now())});
    if (changes_.size() > kKeptChanges) changes_.pop_front();
  }
}

std::string SystemWatch::json(host::ControlClient& control) {
  take_states();
  nlohmann::json all = system_json(control.components(), control.launchers());
  all["changes"] = nlohmann::json::array();
  for (const Change& c : changes_)
    all["changes"].push_back({{"system", c.system},
                              {"state", c.state},
                              {"previous", c.previous},
                              {"reason", c.reason},
                              {"wall_ms", c.wall_ns / 1'000'000}});
  return system_dump(all);
}

}  // namespace cardan::bridge::foxglove
