// SPDX-License-Identifier: Apache-2.0
#include "cardan/runtime/host/component_report.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cardan/memory/clock.hpp"
#include "cardan/memory/error.hpp"
#include "cardan/runtime/runtime.hpp"

namespace cardan::host {
namespace {

using nlohmann::json;

std::map<const detail::Callback*, std::int64_t> running_now(const Runtime& runtime) {
  std::map<const detail::Callback*, std::int64_t> all;
  const std::int64_t now = steady_now();
  for (const auto& group : runtime.groups())
    for (const auto& doing : group->doing())
      if (doing.callback != nullptr) all[doing.callback] = std::max<std::int64_t>(1, now - doing.since);
  return all;
}

CallbackReport report_of(const detail::Callback& callback) {
  const CallbackStatistics& s = callback.statistics();
  CallbackReport r;
  r.name = callback.name();
  r.group = callback.group().options().name;
  r.priority = callback.priority();
  r.transport = s.transport.counts();
  r.waiting = s.waiting.counts();
  r.running = s.running.counts();
  r.longest_transport = s.transport.longest();
  r.longest_waiting = s.waiting.longest();
  r.longest_running = s.running.longest();
  r.calls = s.calls.load(std::memory_order_relaxed);
  r.kept = s.given_up.load(std::memory_order_relaxed);
  const std::uint64_t dropped = s.dropped.load(std::memory_order_relaxed);
  r.queue_full = dropped - std::min(dropped, r.kept);
  r.missed = s.missed.load(std::memory_order_relaxed);
  r.failures = s.failures.load(std::memory_order_relaxed);
  r.overruns = s.overruns.load(std::memory_order_relaxed);
  r.queued = s.queued.load(std::memory_order_relaxed);
  return r;
}

json value_json(const config::Value& value) {
  return std::visit([](const auto& v) { return json(v); }, value);
}

config::Value value_of(const json& j) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_integer()) return j.get<std::int64_t>();
  if (j.is_number()) return j.get<double>();
  return j.get<std::string>();
}

json callback_json(const CallbackReport& c) {
  return {{"name", c.name},
          {"kind", static_cast<int>(c.kind)},
          {"topic", c.topic},
          {"group", c.group},
          {"priority", c.priority},
          {"transport", c.transport},
          {"waiting", c.waiting},
          {"running", c.running},
          {"longest", {c.longest_transport, c.longest_waiting, c.longest_running}},
          {"calls", c.calls},
          {"queue_full", c.queue_full},
          {"kept", c.kept},
          {"missed", c.missed},
          {"failures", c.failures},
          {"overruns", c.overruns},
          {"late", c.late},
          {"queued", c.queued},
          {"capacity", c.capacity},
          {"running_since", c.running_since}};
}

CallbackReport callback_of(const json& j) {
  CallbackReport c;
  c.name = j.at("name");
  c.kind = static_cast<CallbackReport::Kind>(j.at("kind").get<int>());
  c.topic = j.at("topic");
  c.group = j.at("group");
  c.priority = j.at("priority");
  c.transport = j.at("transport").get<LatencyHistogram>();
  c.waiting = j.at("waiting").get<LatencyHistogram>();
  c.running = j.at("running").get<LatencyHistogram>();
  c.longest_transport = j.at("longest").at(0);
  c.longest_waiting = j.at("longest").at(1);
  c.longest_running = j.at("longest").at(2);
  c.calls = j.at("calls");
  c.queue_full = j.at("queue_full");
  c.kept = j.at("kept");
  c.missed = j.at("missed");
  c.failures = j.at("failures");
  c.overruns = j.at("overruns");
  c.late = j.at("late");
  c.queued = j.at("queued");
  c.capacity = j.at("capacity");
  c.running_since = j.at("running_since");
  return c;
}

json component_json(const ComponentReport& c) {
  json callbacks = json::array();
  for (const CallbackReport& x : c.callbacks) callbacks.push_back(callback_json(x));
  json outputs = json::array();
  for (const OutputReport& o : c.outputs)
    outputs.push_back({{"topic", o.topic},
                       {"type", o.type},
                       {"published", o.published},
                       {"readers_here", o.readers_here},
                       {"readers_outside", o.readers_outside}});
  json parameters = json::array();
  for (const ParameterReport& p : c.parameters) {
    json one = {{"name", p.name},
                {"description", p.description},
                {"type", config::type_of(p.value)},
                {"value", value_json(p.value)},
                {"fixed", p.fixed}};
    if (p.min) one["min"] = value_json(*p.min);
    if (p.max) one["max"] = value_json(*p.max);
    parameters.push_back(std::move(one));
  }
  return {{"name", c.name},          {"class", c.class_name},  {"library", c.library},
          {"process", c.process},    {"host", c.host},         {"pid", c.pid},
          {"restarts", c.restarts},  {"callbacks", callbacks}, {"outputs", outputs},
          {"parameters", parameters}};
}

ComponentReport component_of(const json& j) {
  ComponentReport c;
  c.name = j.at("name");
  c.class_name = j.at("class");
  c.library = j.at("library");
  c.process = j.at("process");
  c.host = j.at("host");
  c.pid = j.at("pid");
  c.restarts = j.at("restarts");
  for (const json& x : j.at("callbacks")) c.callbacks.push_back(callback_of(x));
  for (const json& o : j.at("outputs"))
    c.outputs.push_back(
        {o.at("topic"), o.at("type"), o.at("published"), o.at("readers_here"), o.at("readers_outside")});
  for (const json& p : j.at("parameters")) {
    ParameterReport r;
    r.name = p.at("name");
    r.description = p.at("description");
    r.value = value_of(p.at("value"));
    // A double that happens to be whole is written as one.
    const auto read = [&](const char* key) -> std::optional<config::Value> {
      if (!p.contains(key)) return std::nullopt;
      return value_of(p.at(key));
    };
    r.min = read("min");
    r.max = read("max");
    r.fixed = p.at("fixed");
    c.parameters.push_back(std::move(r));
  }
  return c;
}

}  // namespace

const char* name_of(CallbackReport::Kind kind) noexcept {
  switch (kind) {
    case CallbackReport::Kind::Input:
      return "input";
    case CallbackReport::Kind::Latest:
      return "latest";
    case CallbackReport::Kind::Timer:
      return "timer";
  }
  return "unknown";
}

std::vector<ComponentReport> report_of(const Runtime& runtime) {
  const auto running = running_now(runtime);
  std::vector<ComponentReport> all;
  for (const auto& core : runtime.components()) {
    ComponentReport c;
    c.name = core->name();
    c.class_name = core->settings().class_name;
    c.library = core->settings().library;
    for (const auto& callback : core->callbacks()) {
      if (callback.get() == &core->errand()) continue;
      CallbackReport r = report_of(*callback);
      if (const auto since = running.find(callback.get()); since != running.end()) r.running_since = since->second;
      const auto declared = std::find_if(core->declared().begin(), core->declared().end(),
                                         [&](const auto& d) { return d.port == callback.get(); });
      if (declared == core->declared().end()) {
        r.kind = CallbackReport::Kind::Timer;
      } else {
        r.kind = declared->port->calls() ? CallbackReport::Kind::Input : CallbackReport::Kind::Latest;
        r.topic = declared->topic;
        r.capacity = declared->port->capacity();
        if (const auto* source = callback->group().remotes().find(declared->topic);
            source != nullptr && source->deadlines_missed != nullptr)
          r.late = source->deadlines_missed->load(std::memory_order_relaxed);
      }
      c.callbacks.push_back(std::move(r));
    }
    for (const auto& d : core->declared()) {
      if (!d.output) continue;
      OutputReport o;
      o.topic = d.topic;
      o.type = d.type.shared ? d.type.shared->name : d.type.cpp.name();
      o.published = d.out->published();
      o.readers_here = static_cast<std::uint32_t>(d.out->channel().ports().size());
      if (d.out->publisher() != nullptr)
        o.readers_outside = static_cast<std::uint32_t>(d.out->publisher()->subscribers());
      c.outputs.push_back(std::move(o));
    }
    for (const auto& [name, p] : core->parameters())
      c.parameters.push_back({name, p->description, p->value(), p->min, p->max, p->fixed});
    all.push_back(std::move(c));
  }
  return all;
}

std::string to_json(const std::vector<ComponentReport>& components) {
  json all = json::array();
  for (const ComponentReport& c : components) all.push_back(component_json(c));
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::vector<ComponentReport> components_from_json(const std::string& text) {
  try {
    std::vector<ComponentReport> all;
    for (const json& c : json::parse(text)) all.push_back(component_of(c));
    return all;
  } catch (const json::exception& e) {
    throw Error(ErrorCode::Incompatible, std::string("a host's answer cannot be read: ") + e.what(),
                "use the same version of Cardan on both sides");
  }
}

}  // namespace cardan::host
