// SPDX-License-Identifier: Apache-2.0
// `rosbag2`: our re-implementation of how rosbag2 records, in its own process.
#include "bench/record/peers/rosbag2/feeds.hpp"

#include <nlohmann/json.hpp>

#include "bench/record/parts.hpp"
#include "bench/stage.hpp"

namespace cardan::bench::recording {

void play_rosbag2(const nlohmann::json& job) {
  Stage stage;
  const Sensors sensors = sensors_of(job.at("sensors"));
  std::vector<std::string> topics;
  for (const SensorGroup& group : sensors) topics.push_back(group.topic);
  rosbag2::Writer writer(job.at("file"), topics, job.value("cache_bytes", rosbag2::MessageCache::kUsualBytes));

  rosbag2::Fed fed;
  CpuTime before;
  if (job.at("feed") == "topics") {
    rosbag2::TopicFeed feed(sensors);
    stage.ready();
    if (!stage.wait_for_go()) return;
    before = own_cpu();
    fed = feed.run(writer, [&] { return stage.end_asked(); });
  } else {
    const Schedule schedule =
        job.at("schedule") == name_of(Schedule::IntegerMs) ? Schedule::IntegerMs : Schedule::Absolute;
    stage.ready();
    if (!stage.wait_for_go()) return;
    before = own_cpu();
    fed = rosbag2::feed_without_transport(sensors, schedule, job.at("seconds"), writer, [&] { stage.done(); });
  }
  writer.close();
  const CpuTime used = own_cpu().since(before);
  if (job.at("feed") != "topics") stage.wait_for_end();
  Stage::report({{"cpu", to_json(used)},
                 {"files", nlohmann::json::array({job.at("file")})},
                 {"mode", "buffered fwrite"},
                 {"made", fed.made},
                 {"recorded", writer.written()},
                 {"lost", fed.dropped + writer.dropped()},
                 {"lost_by_cause", {{"before the cache", fed.dropped}, {"cache full", writer.dropped()}}},
                 {"producers_cpu_s", fed.producers_cpu_s},
                 {"handling_ns", fed.handling_ns},
                 {"encoding_ns", writer.encoding_ns()},
                 {"fwrite_ns", writer.fwrite_ns()}});
}

}  // namespace cardan::bench::recording
