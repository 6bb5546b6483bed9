// SPDX-License-Identifier: Apache-2.0
// `cardan` and `speed`: Cardan's own recorder, in its own process.
#include <nlohmann/json.hpp>
#include <string>

#include "bench/record/parts.hpp"
#include "bench/stage.hpp"
#include "cardan/recorder.hpp"

namespace cardan::bench::recording {
namespace {

nlohmann::json to_json(const record::DurationReport& d) {
  return {{"count", d.count}, {"sum_ns", d.sum}, {"p50_ns", d.p50}, {"p99_ns", d.p99}, {"most_ns", d.most}};
}

nlohmann::json losses_of(const record::RecorderReport& report) {
  nlohmann::json causes = nlohmann::json::object();
  for (const record::TopicReport& topic : report.topics)
    for (std::size_t i = 0; i < topic.lost.size(); ++i) {
      if (topic.lost[i] == 0) continue;
      const std::string cause = record::to_string(static_cast<record::LossCause>(i));
      causes[cause] = causes.value(cause, std::uint64_t{0}) + topic.lost[i];
    }
  return causes;
}

}  // namespace

void play_recorder(const nlohmann::json& job) {
  Stage stage;
  record::RecorderOptions options;
  options.path = job.at("file");
  options.topics = {"/sensor/*"};
  options.copy = job.value("copy", false);
  if (job.value("asap", false)) options.schedule.policy = record::SchedulePolicy::Asap;
  record::Recorder recorder(std::move(options));
  stage.ready();
  if (!stage.wait_for_go()) return;

  const CpuTime before = own_cpu();
  stage.wait_for_end();
  // Before stop(), which empties it.
  std::uint64_t most_held = 0;
  const record::RecorderReport running = recorder.report();
  for (const record::TopicReport& topic : running.topics) most_held += topic.most_queued_bytes;
  recorder.stop();
  const CpuTime used = own_cpu().since(before);
  const record::RecorderReport report = recorder.report();
  Stage::report({{"cpu", to_json(used)},
                 {"files", report.files},
                 {"mode", report.mode},
                 {"recorded", report.recorded},
                 {"lost", report.lost},
                 {"lost_by_cause", losses_of(report)},
                 {"copied_bytes", report.copied_bytes},
                 {"own_bytes", running.own_bytes},
                 {"most_queued_bytes", most_held},
                 {"submit", to_json(report.submit)},
                 {"write", to_json(report.write)},
                 {"path", to_json(report.path)},
                 {"failure", report.failure}});
}

}  // namespace cardan::bench::recording
