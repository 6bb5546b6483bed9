// SPDX-License-Identifier: Apache-2.0
#include "apps/record/record_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "apps/terminal/output.hpp"

namespace cardan::apps {
namespace {

using Json = nlohmann::ordered_json;

/// A topic whose type changed has a report for each type.
const record::TopicReport* topic_of(const record::RecorderReport& report, const record::TopicReport& like) {
  const auto found = std::find_if(report.topics.begin(), report.topics.end(),
                                  [&](const auto& t) { return t.topic == like.topic && t.type == like.type; });
  return found == report.topics.end() ? nullptr : &*found;
}

Json duration_json(const record::DurationReport& d) {
  return {{"count", d.count},
          {"mean_us", d.count == 0 ? 0.0 : static_cast<double>(d.sum) / 1e3 / static_cast<double>(d.count)},
          {"p50_us", static_cast<double>(d.p50) / 1e3},
          {"p99_us", static_cast<double>(d.p99) / 1e3},
          {"max_us", static_cast<double>(d.most) / 1e3}};
}

Json schedule_json(const record::ScheduleReport& s) {
  Json reasons = Json::object();
  for (std::size_t i = 0; i < record::kWriteReasons; ++i)
    reasons[std::string(record::to_string(static_cast<record::WriteReason>(i)))] = {
        {"decisions", s.reasons[i].decisions}, {"bytes", s.reasons[i].bytes}};
  Json applications = Json::array();
  for (const auto& a : s.applications)
    applications.push_back({{"name", a.name},
                            {"weight", a.weight},
                            {"cycles", a.cycles},
                            {"period_us", static_cast<double>(a.period_ns) / 1e3},
                            {"busy_us", static_cast<double>(a.busy_ns) / 1e3},
                            {"begin_error_us", static_cast<double>(a.begin_error_ns) / 1e3}});
  return {{"policy", record::to_string(s.policy)},
          {"in_idle_windows", s.in_idle_windows},
          {"longest_wait_us", static_cast<double>(s.longest_wait_ns) / 1e3},
          {"begins", s.begins},
          {"begins_in_writes", s.begins_in_writes},
          {"reasons", reasons},
          {"applications", applications}};
}

}  // namespace

std::string loss_text(const record::TopicReport& topic) {
  std::string text;
  for (std::size_t i = 0; i < record::kLossCauses; ++i)
    if (topic.lost[i] != 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", topic.lost[i],
                          record::to_string(static_cast<record::LossCause>(i)));
  return text.empty() ? "0" : text;
}

namespace {

struct Shown {
  Table topics;
  std::vector<std::string> problems;
  std::string disk;
};

Shown shown(const record::RecorderReport& now, const record::RecorderReport& before) {
  const double seconds = std::max(static_cast<double>(now.duration_ns - before.duration_ns) / 1e9, 1e-3);
  Shown out{Table({{"topic"}, {"recorded", true}, {"Hz", true}, {"MB/s", true}, {"queue", true}, {"lost"}}), {}, {}};
  out.topics.trouble({"lost"});
  out.topics.keep({"topic", "recorded", "queue", "MB/s"});
  for (const record::TopicReport& topic : now.topics) {
    if (!topic.problem.empty())
      out.problems.push_back(fmt::format("{}: {}", printable(topic.topic), printable(topic.problem)));
    if (topic.type.empty()) continue;
    const record::TopicReport* last = topic_of(before, topic);
    const auto since = [&](std::uint64_t value, std::uint64_t record::TopicReport::* field) {
      return static_cast<double>(value - (last == nullptr ? 0 : last->*field)) / seconds;
    };
    out.topics.row({printable(topic.topic), std::to_string(topic.recorded),
                    count_text(since(topic.recorded, &record::TopicReport::recorded)),
                    fmt::format("{:.1f}", since(topic.bytes, &record::TopicReport::bytes) / 1e6),
                    topic.queued == 0
                        ? "-"
                        : fmt::format("{} ({})", topic.queued, bytes_text(static_cast<double>(topic.queued_bytes))),
                    loss_text(topic)});
  }
  out.disk = fmt::format(
      "{:.0f} s{}, {}, {:.0f} MB/s, write p50 {} p99 {} max {}, {} held, {} left on the disk",
      static_cast<double>(now.duration_ns) / 1e9, now.paused ? " (paused)" : "",
      bytes_text(static_cast<double>(now.bytes)), static_cast<double>(now.bytes - before.bytes) / 1e6 / seconds,
      time_text(static_cast<double>(now.write.p50)), time_text(static_cast<double>(now.write.p99)),
      time_text(static_cast<double>(now.write.most)), bytes_text(static_cast<double>(now.held_bytes)),
      bytes_text(static_cast<double>(now.free_bytes)));
  return out;
}

}  // namespace

std::string record_table(const record::RecorderReport& now, const record::RecorderReport& before) {
  const Shown all = shown(now, before);
  return all.topics.text() + text_of(all.problems) + all.disk + "\n";
}

std::vector<std::string> record_lines(const record::RecorderReport& now, const record::RecorderReport& before,
                                      Room room) {
  const Shown all = shown(now, before);
  std::vector<std::string> below = wrapped(all.disk, room.columns);
  for (const std::string& problem : all.problems) below.push_back(cut(problem, room.columns));
  const std::size_t table = std::max<std::size_t>(room.rows, below.size() + 2) - below.size();
  std::vector<std::string> lines = all.topics.lines({room.columns, table});
  lines.insert(lines.end(), below.begin(), below.end());
  if (lines.size() > room.rows) lines.resize(room.rows);
  return lines;
}

Json record_json(const record::RecorderReport& r) {
  Json steps = Json::array();
  for (const record::ClockStep& step : r.clock_steps)
    steps.push_back({{"log_time_ns", step.log_time}, {"by_s", static_cast<double>(step.by_ns) / 1e9}});
  Json topics = Json::array();
  for (const record::TopicReport& topic : r.topics) {
    Json lost = Json::object();
    for (std::size_t i = 0; i < record::kLossCauses; ++i)
      lost[record::to_string(static_cast<record::LossCause>(i))] = topic.lost[i];
    topics.push_back({{"topic", topic.topic},
                      {"type", topic.type},
                      {"recorded", topic.recorded},
                      {"bytes", topic.bytes},
                      {"lost", topic.lost_in_all()},
                      {"lost_by_cause", lost},
                      {"left_out", topic.left_out},
                      {"refused", topic.refused},
                      {"unreadable", topic.unreadable},
                      {"most_queued_bytes", topic.most_queued_bytes},
                      {"problem", topic.problem.empty() ? Json() : Json(topic.problem)}});
  }
  return {{"files", r.files},
          {"mode", r.mode},
          {"seconds", static_cast<double>(r.duration_ns) / 1e9},
          {"ready_after", static_cast<double>(r.ready_ns) / 1e9},
          {"clock_steps", steps},
          {"recorded", r.recorded},
          {"lost", r.lost},
          {"refused", r.refused},
          {"unreadable", r.unreadable},
          {"causes_left_out", r.causes_left_out},
          {"missing", r.missing},
          {"no_clock", r.no_clock},
          {"bytes", r.bytes},
          {"copied_bytes", r.copied_bytes},
          {"own_bytes", r.own_bytes},
          {"write", duration_json(r.write)},
          {"submit", duration_json(r.submit)},
          {"path", duration_json(r.path)},
          {"schedule", schedule_json(r.schedule)},
          {"failure", r.failure.empty() ? Json() : Json(r.failure)},
          {"topics", topics}};
}

}  // namespace cardan::apps
