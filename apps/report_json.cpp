// SPDX-License-Identifier: Apache-2.0
#include "apps/report_json.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cardan/clock.hpp"

namespace cardan::apps {

using nlohmann::ordered_json;

ordered_json latency_json(const LatencyHistogram& histogram) {
  std::uint64_t samples = 0;
  for (const auto& [bucket, count] : histogram) samples += count;
  if (samples == 0) return nullptr;
  const auto us = [&](double percent) { return static_cast<double>(latency_percentile(histogram, percent)) / 1e3; };
  return {{"p50", us(50)}, {"p95", us(95)}, {"p99", us(99)}, {"samples", samples}};
}

ordered_json age_json(const SubscriberReport& subscriber, const LatencyHistogram& ages) {
  ordered_json all = latency_json(ages);
  if (all.is_null() && subscriber.unknown_ages == 0) return nullptr;
  all["greatest"] = static_cast<double>(subscriber.greatest_age_ns) / 1e3;
  all["unknown"] = subscriber.unknown_ages;
  return all;
}

ordered_json publisher_json(const PublisherReport& p) {
  ordered_json subscribers = ordered_json::array();
  for (const SubscriberReport& s : p.subscribers)
    subscribers.push_back({{"program", s.name},
                           {"pid", s.pid},
                           {"uid", s.uid},
                           {"depth", s.depth == 0 ? ordered_json() : ordered_json(s.depth)},
                           {"reliable", s.reliable},
                           {"demoted", s.demoted},
                           {"received", s.received},
                           {"missed", s.missed},
                           {"bad", s.bad},
                           {"sleeps", s.sleeps},
                           {"spin_ms", static_cast<double>(s.spin_ns) / 1e6},
                           {"latency_us", latency_json(s.latency)},
                           {"age_us", age_json(s, s.age)}});
  return {{"program", p.program},
          {"pid", p.pid},
          {"type", p.type},
          {"layout", p.layout},
          {"depth", p.depth},
          {"max_bytes", p.max_bytes},
          {"reliable", p.reliable},
          {"deadline_ms", static_cast<double>(p.deadline_ns) / 1e6},
          {"slots", p.slots},
          {"reserved_bytes", p.area_bytes},
          {"published", p.published},
          {"bytes", p.bytes},
          {"longest_gap_ms", static_cast<double>(p.longest_gap_ns) / 1e6},
          {"last_sign_of_life_ms", p.published == 0
                                       ? ordered_json(nullptr)
                                       : ordered_json(static_cast<double>(steady_now() - p.heartbeat_ns) / 1e6)},
          {"wakes", p.wakes},
          {"prewakes", p.prewakes},
          {"reliable_timeouts", p.reliable_timeouts},
          {"latency_us", latency_json(p.latency)},
          {"age_us", latency_json(p.age)},
          {"subscribers", subscribers},
          {"subscribers_left_out", p.left_out}};
}

}  // namespace cardan::apps
