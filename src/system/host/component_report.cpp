// SPDX-License-Identifier: Apache-2.0
#include "src/system/host/component_report.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/base/text_of_json.hpp"
#include "src/runtime/runtime.hpp"
#include "src/system/plan/value_json.hpp"
#include "src/transport/endpoint/publisher_core.hpp"

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
  r.age = s.age.counts();
  r.longest_transport = s.transport.longest();
  r.longest_waiting = s.waiting.longest();
  r.longest_running = s.running.longest();
  r.greatest_age = s.age.longest();
  r.unknown_ages = s.unknown_ages.load(std::memory_order_relaxed);
  r.calls = s.calls.load(std::memory_order_relaxed);
  r.kept = s.given_up.load(std::memory_order_relaxed);
  const std::uint64_t dropped = s.dropped.load(std::memory_order_relaxed);
  r.queue_full = dropped - std::min(dropped, r.kept);
  r.missed = s.missed.load(std::memory_order_relaxed);
  r.failures = s.failures.load(std::memory_order_relaxed);
  r.overruns = s.overruns.load(std::memory_order_relaxed);
  r.skipped = s.skipped.load(std::memory_order_relaxed);
  r.unanswered = s.unanswered.load(std::memory_order_relaxed);
  r.queued = s.queued.load(std::memory_order_relaxed);
  return r;
}

const detail::DeclaredService* service_of(const detail::ComponentCore& core, const detail::Callback& callback) {
  const auto it = std::find_if(core.services().begin(), core.services().end(),
                               [&](const auto& s) { return s.server == &callback || s.client == &callback; });
  return it == core.services().end() ? nullptr : &*it;
}

void describe(const detail::DeclaredService& service, CallbackReport& r) {
  r.kind = service.server != nullptr ? CallbackReport::Kind::Service : CallbackReport::Kind::Client;
  r.topic = service.name;
  r.capacity = service.server != nullptr ? service.server->capacity() : service.type.options.pending;
}

FusionReport report_of(const detail::ComponentCore::Fused& fused) {
  const FusionStatistics statistics = fused.statistics();
  FusionReport r{.name = fused.watch->name(),
                 .policy = fused.watch->policy().name(),
                 .time = detail::name_of(fused.watch->policy().time()),
                 .fired = statistics.fired,
                 .silent = fused.watch->silent()};
  if (r.silent) r.why = fused.watch->why(statistics);
  for (std::size_t i = 0; i < fused.topics.size(); ++i) {
    const FusionInputStatistics& s = statistics.inputs[i];
    r.inputs.push_back({.name = fused.watch->inputs()[i],
                        .topic = fused.topics[i],
                        .offered = s.offered,
                        .used = s.used,
                        .unfired = s.unfired,
                        .replaced = s.replaced,
                        .overtaken = s.overtaken,
                        .pushed_out = s.pushed_out,
                        .late = s.late,
                        .cleared = s.cleared,
                        .waiting = s.waiting,
                        .never_arrived = s.never_arrived,
                        .too_old = s.too_old,
                        .absent = s.absent,
                        .unstamped = s.unstamped});
  }
  return r;
}

ChainReport report_of(const detail::ChainEnd& end, std::int64_t now) {
  ChainReport r{.chain = end.chain().name,
                .from = end.chain().from,
                .to = end.chain().to,
                .budget_ns = end.chain().budget.count(),
                .late = end.late(),
                .unknown = end.unknown(),
                .age = end.age().counts(),
                .greatest_age = end.age().longest()};
  r.publications = end.in_time() + r.unknown + r.late;
  if (const std::int64_t last = end.last_late_ns(); last != 0) r.late_ago_ns = std::max<std::int64_t>(0, now - last);
  for (const detail::ChainEnd::Hop& hop : end.hops())
    if (const std::uint64_t longest = hop.longest.load(std::memory_order_relaxed); longest != 0)
      r.hops.push_back({.component = hop.component,
                        .longest = longest,
                        .late = hop.late.load(std::memory_order_relaxed),
                        .longest_ns = hop.longest_ns.load(std::memory_order_relaxed)});
  return r;
}

}  // namespace

const ChainHopReport* slowest_of(const ChainReport& chain) noexcept {
  const auto most =
      std::max_element(chain.hops.begin(), chain.hops.end(),
                       [](const ChainHopReport& a, const ChainHopReport& b) { return a.longest < b.longest; });
  return most == chain.hops.end() ? nullptr : &*most;
}

// Both ways of each struct from one list of its fields. Found by nlohmann-json through the structs' namespace.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CallbackReport, name, kind, topic, group, priority, transport, waiting, running, age,
                                   longest_transport, longest_waiting, longest_running, greatest_age, unknown_ages,
                                   calls, queue_full, kept, missed, failures, overruns, skipped, unanswered, late,
                                   queued, capacity, running_since)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OutputReport, topic, type, published, readers_here, readers_outside)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FusionInputReport, name, topic, offered, used, unfired, replaced, overtaken,
                                   pushed_out, late, cleared, waiting, never_arrived, too_old, absent, unstamped)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FusionReport, name, policy, time, fired, silent, why, inputs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ChainHopReport, component, longest, late, longest_ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ChainReport, chain, from, to, budget_ns, publications, late, unknown, age,
                                   greatest_age, late_ago_ns, hops)

static void to_json(json& j, const ParameterReport& p) {
  j = {{"name", p.name}, {"description", p.description}, {"value", plan::json_of(p.value)}, {"fixed", p.fixed}};
  if (p.min) j["min"] = plan::json_of(*p.min);
  if (p.max) j["max"] = plan::json_of(*p.max);
}

static void from_json(const json& j, ParameterReport& p) {
  const auto bound = [&](const char* key) {
    return j.contains(key) ? std::optional(plan::needed_value_of(j.at(key))) : std::nullopt;
  };
  p = {.name = j.at("name"),
       .description = j.at("description"),
       .value = plan::needed_value_of(j.at("value")),
       .min = bound("min"),
       .max = bound("max"),
       .fixed = j.at("fixed")};
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ComponentReport, name, class_name, library, process, host, pid, restarts, callbacks,
                                   outputs, fusions, parameters, chains)

const char* name_of(CallbackReport::Kind kind) noexcept {
  switch (kind) {
    case CallbackReport::Kind::Input:
      return "input";
    case CallbackReport::Kind::Latest:
      return "latest";
    case CallbackReport::Kind::Timer:
      return "timer";
    case CallbackReport::Kind::Service:
      return "service";
    case CallbackReport::Kind::Client:
      return "client";
  }
  return "unknown";
}

std::vector<ComponentReport> report_of(const Runtime& runtime) {
  const auto running = running_now(runtime);
  const std::int64_t now = runtime.clock().now();
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
        if (const auto* service = service_of(*core, *callback)) describe(*service, r);
      } else {
        r.kind = declared->port->calls() ? CallbackReport::Kind::Input : CallbackReport::Kind::Latest;
        r.topic = declared->topic;
        r.capacity = declared->port->capacity();
        if (const auto* source = callback->group().remotes().find(*declared->port);
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
      if (const detail::ChainEnds* const ends = d.out->chain_ends(); ends != nullptr)
        for (const detail::ChainEnd& end : ends->all()) c.chains.push_back(report_of(end, now));
    }
    for (const auto& fused : core->fusions()) c.fusions.push_back(report_of(fused));
    for (const auto& [name, p] : core->parameters())
      c.parameters.push_back({name, p->description, p->value(), p->min, p->max, p->fixed});
    all.push_back(std::move(c));
  }
  return all;
}

std::string to_json(const std::vector<ComponentReport>& components) { return text_of_json(json(components)); }

std::vector<ComponentReport> components_from_json(const std::string& text) {
  try {
    return json::parse(text).get<std::vector<ComponentReport>>();
  } catch (const json::exception& e) {
    throw Error(ErrorCode::Incompatible, std::string("a host's answer cannot be read: ") + e.what(),
                "use the same version of Cardan on both sides");
  }
}

}  // namespace cardan::host
