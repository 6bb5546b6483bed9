// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/reporter.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cardan/clock.hpp"
#include "src/base/name_patterns.hpp"

namespace cardan::record {
namespace {

constexpr std::int64_t kReportInterval = 100'000'000;

}  // namespace

Reporter::Reporter(const Parts& parts, StatisticsPublisher& statistics, LatestReport& latest)
    : parts_(parts), statistics_(statistics), latest_(latest), selection_(parts.options) {}

bool Reporter::due(std::int64_t now) const noexcept {
  return now - reported_ns_ >= kReportInterval || parts_.intake.looked_ns() != reported_looked_ns_;
}

void Reporter::publish(std::int64_t now) {
  if (ready_ns_ == 0 && parts_.intake.looked_ns() != 0) ready_ns_ = now;
  reported_ns_ = now;
  reported_looked_ns_ = parts_.intake.looked_ns();
  RecorderReport report;
  report.file = parts_.rotation.active_path();
  report.files = parts_.rotation.finished();
  report.mode = parts_.probe.why;
  add_topics(report);
  add_missing(report);
  add_problems(report);
  add_bytes(report);
  report.duration_ns = steady_now() - started_ns_;
  report.ready_ns = ready_ns_ == 0 ? 0 : ready_ns_ - started_ns_;
  report.clock_steps = parts_.topics.clock_steps();
  report.write = parts_.issuer.writes().report();
  report.submit = parts_.issuer.submits().report();
  report.path = parts_.issuer.paths().report();
  report.paused = parts_.requests.paused();
  report.no_clock = parts_.options.simulated_clock && !parts_.intake.time().simulated.has_value();
  report.triggered = parts_.requests.triggered();
  report.causes_left_out = parts_.intake.causes_left_out();
  report.schedule = parts_.scheduler.explain(now);
  report.failure = parts_.rotation.failure();
  statistics_.publish(latest_.replace(std::move(report)), now, parts_.intake.time().ahead, reported_looked_ns_);
}

void Reporter::add_topics(RecorderReport& report) const {
  for (const auto& topic : parts_.topics) {
    report.topics.push_back(topic->report());
    report.recorded += report.topics.back().recorded;
    report.lost += report.topics.back().lost_in_all();
    report.held_bytes += topic->held * topic->source().max_bytes;
  }
}

/// Names that were asked for, and no message of them came.
void Reporter::add_missing(RecorderReport& report) const {
  const auto came = [&report](const std::string& name) {
    return std::any_of(report.topics.begin(), report.topics.end(), [&name](const TopicReport& t) {
      return t.topic == name && t.recorded + t.left_out + t.queued + t.lost_in_all() != 0;
    });
  };
  for (const std::string& name : selection_.named())
    if (!came(name)) report.missing.push_back(name);
}

/// Topics that cannot be recorded, or not all publications of them.
void Reporter::add_problems(RecorderReport& report) const {
  const auto is_recorded = [this](const std::string& name) {
    return std::any_of(parts_.topics.begin(), parts_.topics.end(),
                       [&name](const auto& topic) { return topic->source().name == name; });
  };
  for (const auto& [topic, problem] : parts_.intake.problems()) {
    if (is_recorded(topic)) report.unreadable += problem.unreadable;
    report.topics.push_back(
        {.topic = topic, .refused = problem.refused, .unreadable = problem.unreadable, .problem = problem.why});
  }
  for (const TopicReport& topic : report.topics)
    if (detail::fits_one(parts_.options.topics, topic.topic)) report.refused += topic.refused;
}

void Reporter::add_bytes(RecorderReport& report) const {
  report.bytes = parts_.rotation.committed_bytes();
  report.copied_bytes = parts_.batches.copied_bytes() + parts_.issuer.copied_bytes();
  report.own_bytes = parts_.batches.own_bytes() + parts_.queue.under_way() * 4 * kBlock;  // and seams
  report.in_flight_bytes = parts_.issuer.bytes_under_way();
  report.free_bytes = parts_.rotation.free_bytes();
}

}  // namespace cardan::record
