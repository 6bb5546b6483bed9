// SPDX-License-Identifier: Apache-2.0
// `cardan topic info`: what the publishing processes say of one topic.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "apps/decode.hpp"
#include "apps/report_json.hpp"
#include "apps/terminal/output.hpp"
#include "apps/topic/topic.hpp"
#include "cardan/clock.hpp"
#include "cardan/observer.hpp"

namespace cardan::apps {

static void describe(const PublisherReport& p, std::string& out) {
  const auto add = [&out](const char* what, const std::string& value) {
    out += fmt::format("    {:<14} {}\n", what, value);
  };
  out += fmt::format("  publisher {} (pid {})\n", printable(p.program), p.pid);
  add("delivery", delivery(p));
  add("messages up to", fmt::format("{} beyond the fixed part; {} slots, {} of address space reserved",
                                    bytes_text(static_cast<double>(p.max_bytes)), p.slots,
                                    bytes_text(static_cast<double>(p.area_bytes))));
  add("published", p.published == 0 ? "nothing yet"
                                    : fmt::format("{} ({}), last {} ago, longest gap {}", p.published,
                                                  bytes_text(static_cast<double>(p.bytes)),
                                                  time_text(static_cast<double>(steady_now() - p.heartbeat_ns)),
                                                  time_text(static_cast<double>(p.longest_gap_ns))));
  if (p.deadline_ns > 0) add("deadline", time_text(static_cast<double>(p.deadline_ns)));
  add("wake-ups", fmt::format("{}, of them ahead of time {}", p.wakes + p.prewakes, p.prewakes));
  if (!p.via.empty()) add("via", p.via + " (a bridge publishes it)");
  if (p.reliable) add("time-outs", fmt::format("{} (reliable publish)", p.reliable_timeouts));
  if (p.subscribers.empty()) {
    add("subscribers", "none");
    return;
  }
  Table table({{"    subscriber"},
               {"pid", true},
               {"received", true},
               {"missed", true},
               {"bad", true},
               {"p50", true},
               {"p95", true},
               {"p99", true},
               {"age p50", true},
               {"age p99", true},
               {"oldest", true},
               {"notes"}});
  for (const SubscriberReport& s : p.subscribers) {
    const auto at = [](const LatencyHistogram& histogram, double percent) {
      return time_text(static_cast<double>(latency_percentile(histogram, percent)));
    };
    std::string notes = s.reliable ? (s.demoted ? "reliable, demoted until it has caught up" : "reliable") : "";
    if (s.depth > p.depth)
      notes += fmt::format("{}requests the last {}, more than are kept", notes.empty() ? "" : ", ", s.depth);
    if (s.unknown_ages != 0) notes += fmt::format("{}age unknown of {}", notes.empty() ? "" : ", ", s.unknown_ages);
    if (s.spin_ns > 0)
      notes += fmt::format("{}spun {}", notes.empty() ? "" : ", ", time_text(static_cast<double>(s.spin_ns)));
    table.row({"    " + printable(s.name), std::to_string(s.pid), std::to_string(s.received), std::to_string(s.missed),
               std::to_string(s.bad), at(s.latency, 50), at(s.latency, 95), at(s.latency, 99), at(s.age, 50),
               at(s.age, 99), time_text(s.age.empty() ? -1.0 : static_cast<double>(s.greatest_age_ns)), notes});
  }
  out += table.text();
  if (p.left_out != 0) out += fmt::format("    and {} more subscribers that do not fit into this list\n", p.left_out);
}

int topic_info(const InfoOptions& o) {
  const DomainReport report = look_around({.domain = o.domain}, o.topic);
  if (report.publishers.empty()) return no_such_topic(o.domain, o.topic);
  warn_of(report, o.domain);
  std::string schema;
  if (o.schema || o.json) {
    const Observer observer{o.topic, {.domain = o.domain}};
    const auto streams = observer.streams();
    if (!streams.empty()) schema = printable_lines(streams.front()->schema());
  }
  if (o.json) {
    nlohmann::ordered_json publishers = nlohmann::ordered_json::array();
    for (const PublisherReport& p : report.publishers) publishers.push_back(publisher_json(p));
    const nlohmann::ordered_json all{
        {"topic", o.topic}, {"type", report.publishers.front().type}, {"publishers", publishers}, {"schema", schema}};
    return emit(one_line(all) + "\n") ? kOk : kFailed;
  }
  std::string out = fmt::format("{}  {}\n", printable(o.topic), printable(report.publishers.front().type));
  for (const PublisherReport& p : report.publishers) {
    if (p.type != report.publishers.front().type || p.layout != report.publishers.front().layout)
      out += fmt::format("  (another type or layout: {} {})\n", printable(p.type), printable(p.layout));
    describe(p, out);
  }
  if (o.schema) {
    std::string indented = "  schema (ros2msg)\n    ";
    for (const char c : schema) {
      indented += c;
      if (c == '\n') indented += "    ";
    }
    indented.erase(indented.find_last_not_of(" \n") + 1);
    out += indented + "\n";
  }
  return emit(out) ? kOk : kFailed;
}

int topic_type(const InfoOptions& o) {
  const DomainReport report = look_around({.domain = o.domain}, o.topic);
  if (report.publishers.empty()) return no_such_topic(o.domain, o.topic);
  warn_of(report, o.domain);
  std::set<std::string> types;
  for (const PublisherReport& p : report.publishers) types.insert(printable(p.type));
  return emit(fmt::format("{}\n", fmt::join(types, "\n"))) ? kOk : kFailed;
}

}  // namespace cardan::apps
