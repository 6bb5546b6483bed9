// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "apps/component/component_chains.hpp"
#include "apps/decode.hpp"
#include "apps/report_json.hpp"
#include "apps/top/figures.hpp"

namespace cardan::apps::top {

using nlohmann::ordered_json;

static ordered_json json_of(const TopicFigures& topic) {
  ordered_json publishers = ordered_json::array();
  ordered_json subscribers = ordered_json::array();
  for (const Writer& w : topic.writers) {
    publishers.push_back({{"program", w.now.program},
                          {"pid", w.now.pid},
                          {"rate_hz", w.rate_hz},
                          {"bytes_per_s", w.bytes_per_s},
                          {"published", w.now.published}});
    for (const Reader& r : w.readers)
      subscribers.push_back({{"program", r.now.name},
                             {"pid", r.now.pid},
                             {"received", r.received},
                             {"lost", r.lost},
                             {"latency_us", latency_json(r.latency)},
                             {"age_us", age_json(r.now, r.age)},
                             {"received_total", r.now.received},
                             {"lost_total", r.now.missed + r.now.bad}});
  }
  return {{"topic", topic.name},
          {"type", topic.type},
          {"rate_hz", topic.rate_hz},
          {"bytes_per_s", topic.bytes_per_s},
          {"latency_us", latency_json(topic.latency)},
          {"age_us", latency_json(topic.age)},
          {"lost", topic.lost},
          {"readers", topic.readers},
          {"publishers", publishers},
          {"subscribers", subscribers}};
}

static ordered_json json_of(const CallbackFigures& callback) {
  const host::CallbackReport& x = callback.counts;
  return {{"component", callback.component},
          {"callback", x.name},
          {"kind", host::name_of(x.kind)},
          {"topic", x.topic.empty() ? ordered_json() : ordered_json(x.topic)},
          {"process", callback.process},
          {"pid", callback.pid},
          {"rate_hz", callback.rate_hz},
          {"busy_percent", callback.busy_percent < 0 ? ordered_json() : ordered_json(callback.busy_percent)},
          {"transport_us", latency_json(x.transport)},
          {"waiting_us", latency_json(x.waiting)},
          {"running_us", latency_json(x.running)},
          {"age_us", latency_json(x.age)},
          {"dropped", x.queue_full + x.kept},
          {"missed", x.missed},
          {"skipped", x.skipped},
          {"unanswered", x.unanswered},
          {"failures", x.failures},
          {"overruns", x.overruns},
          {"runs_for_ms",
           x.running_since == 0 ? ordered_json() : ordered_json(static_cast<double>(x.running_since) / 1e6)}};
}

static ordered_json json_of(const ChainFigures& chain) {
  ordered_json json = chain_json(chain.counts, chain.counts);
  for (const char* total : {"publications_total", "late_total"}) json.erase(total);
  json["component"] = chain.component;
  json["process"] = chain.process;
  json["pid"] = chain.pid;
  json["rate_hz"] = chain.rate_hz;
  return json;
}

static ordered_json json_of(const ServiceFigures& service) {
  return {{"service", service.name},
          {"program", service.server.program},
          {"pid", service.server.pid},
          {"clients", service.server.subscribers.size() + service.server.left_out},
          {"rate_hz", service.rate_hz},
          {"taken", service.counts.taken},
          {"answered", service.counts.answered},
          {"declined", service.counts.declined},
          {"expired", service.counts.expired},
          {"answer_us", latency_json(service.counts.answer)}};
}

static ordered_json json_of(const ProcessFigures& process) {
  return {{"process", process.name},
          {"program", process.program.empty() ? ordered_json() : ordered_json(process.program)},
          {"pid", process.pid == 0 ? ordered_json() : ordered_json(process.pid)},
          {"state", process.state.empty() ? ordered_json() : ordered_json(process.state)},
          {"restarts", process.restarts},
          {"cpu_percent", process.cpu_percent < 0 ? ordered_json() : ordered_json(process.cpu_percent)},
          {"memory_bytes", process.memory_bytes == 0 ? ordered_json() : ordered_json(process.memory_bytes)},
          {"publishes", process.publishes},
          {"subscribes", process.subscribes},
          {"out_hz", process.out_hz},
          {"out_bytes_per_s", process.out_bytes_per_s},
          {"components", process.components}};
}

std::string json_of(const Figures& figures) {
  const auto list = [](const auto& all) {
    ordered_json out = ordered_json::array();
    for (const auto& one : all) out.push_back(json_of(one));
    return out;
  };
  return one_line({{"time_ns", figures.time_ns},
                   {"seconds", figures.seconds},
                   {"processes", list(figures.processes)},
                   {"topics", list(figures.topics)},
                   {"callbacks", list(figures.callbacks)},
                   {"chains", list(figures.chains)},
                   {"services", list(figures.services)},
                   {"problems", figures.problems},
                   {"closed", figures.closed}});
}

}  // namespace cardan::apps::top
