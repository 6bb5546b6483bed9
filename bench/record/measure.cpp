// SPDX-License-Identifier: Apache-2.0
#include "bench/record/measure.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "bench/record/disk_folder.hpp"
#include "bench/record/payload.hpp"
#include "bench/record/peers/ros1/bag_count.hpp"
#include "bench/record/recorder_process.hpp"
#include "bench/results/host.hpp"
#include "bench/transport/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/mcap/reader.hpp"

namespace cardan::bench::recording {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kGrace = 300'000'000;  // for what is on its way when the last message is made
constexpr double kSlowestDisk = 20e6;         // bytes a second: what a recorder may need to end
constexpr std::size_t kMessagesRead = 24;     // of each file, spread over it

std::int64_t seconds_from_now(double seconds) { return now_ns() + static_cast<std::int64_t>(seconds * 1e9); }

std::vector<double> micros(const nlohmann::json& ns) {
  std::vector<double> out;
  for (const auto& value : ns) out.push_back(value.get<double>() / 1e3);
  return out;
}

std::uint64_t size_of(const std::string& file) {
  struct stat info{};
  return ::stat(file.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

// The report of a recorder of ours, in its own words.
void take_report(const nlohmann::json& words, RunFigures& out) {
  if (!words.is_object()) return;
  out.mode = words.value("mode", "");
  out.lost_by_cause = words.value("lost_by_cause", std::map<std::string, std::uint64_t>{});
  out.producers_cpu_s += words.value("producers_cpu_s", 0.0);
  out.own_mib = words.value("own_bytes", 0.0) / (1 << 20);
  out.held_mib = words.value("most_queued_bytes", 0.0) / (1 << 20);
  if (words.contains("fwrite_ns")) {
    out.handling_ms = words.at("handling_ns").get<double>() / 1e6;
    out.encoding_ms = words.at("encoding_ns").get<double>() / 1e6;
    out.system_calls_ms = words.at("fwrite_ns").get<double>() / 1e6;
  }
  if (words.contains("submit")) {
    out.system_calls_ms = words.at("submit").at("sum_ns").get<double>() / 1e6;
    // Handling and encoding are not separated: all that the process computes outside the kernel.
    out.handling_ms = cpu_time_of(words.at("cpu")).user * 1e3;
    out.path_p50_ms = words.at("path").at("p50_ns").get<double>() / 1e6;
    out.path_p99_ms = words.at("path").at("p99_ns").get<double>() / 1e6;
  }
}

void take_sensors(const nlohmann::json& words, const Sensors& sensors, RunFigures& out) {
  out.made = words.at("made");
  out.skipped = words.value("skipped", std::uint64_t{0});
  if (words.contains("cpu")) out.producers_cpu_s += cpu_time_of(words.at("cpu")).sum();
  if (words.contains("publish_ns"))
    out.publish_us = micros(words.at("publish_ns").value(sensors.at(0).topic, nlohmann::json::array()));
}

/// The processes besides recorder and sensors.
struct Beside {
  std::unique_ptr<Actor> reader{}, task{}, pipeline{};

  Beside(const RunSpec& spec, const Setting& setting, Sensors& sensors) {
    const auto start = [&](const char* part, const Sensors& inputs) {
      return std::make_unique<Actor>("record",
                                     nlohmann::json{{"part", part},
                                                    {"sensors", to_json(inputs)},
                                                    {"seconds", spec.seconds},
                                                    {"cpu", setting.task_cpu},
                                                    {"unit_steps", setting.unit_steps},
                                                    {"scene", std::string(1, spec.scene)}},
                                     setting.run_dir);
    };
    if (spec.reader) {
      sensors.at(0).readers += 1;
      reader = start("reader", sensors);
    }
    if (spec.task) task = start("task", sensors);
    if (spec.scene != 0) {
      Sensors inputs = sensors;
      for (SensorGroup& group : inputs) group.readers = &group == &inputs.back() ? 0 : 1;
      for (std::size_t i = 0; i + 1 < sensors.size(); ++i) sensors[i].readers += 1;
      pipeline = start("pipeline", inputs);
    }
  }

  template <class Do>
  void each(Do act) {
    for (auto* actor : {reader.get(), task.get(), pipeline.get()})
      if (actor != nullptr) act(*actor);
  }

  void take_results(std::int64_t until, RunFigures& out) {
    each([](Actor& actor) { actor.end(); });
    if (reader != nullptr) out.transport_us = micros(reader->await_result(until).at("transport_ns"));
    if (task != nullptr) out.tasks = task->await_result(until).at("tasks").get<std::vector<double>>();
    if (pipeline != nullptr) {
      const auto words = pipeline->await_result(until);
      out.end_to_end_ms = words.at("end_to_end_ms").get<std::vector<double>>();
      out.pipeline_missed = words.at("missed");
    }
  }
};

}  // namespace

double cpu_seconds(const CpuTicks& from, const CpuTicks& to) {
  const double busy = static_cast<double>(to.total - from.total) - static_cast<double>(to.idle - from.idle) -
                      static_cast<double>(to.steal - from.steal);
  return busy / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

FileContent content_of(const std::vector<std::string>& files, const Sensors& sensors) {
  std::set<std::string> topics;
  for (const SensorGroup& group : sensors) topics.insert(group.topic);
  FileContent content;
  for (const std::string& file : files) {
    content.bytes += size_of(file);
    if (file.ends_with(".bag")) {
      content.messages += count_bag_messages(file);
      continue;
    }
    const mcap::Reader reader(file);
    if (!reader.complete())
      throw Error(ErrorCode::System, fmt::format("{} was not finished", file), "is the disk full?");
    for (const auto& [id, count] : reader.summary().statistics().channel_message_counts)
      if (const auto channel = reader.summary().channels().find(id);
          channel != reader.summary().channels().end() && topics.contains(channel->second.topic))
        content.messages += count;
    // Some moments of the file, and the first message of each.
    const auto& statistics = reader.summary().statistics();
    const std::uint64_t span = statistics.message_end_time - statistics.message_start_time;
    for (std::size_t i = 0; i < kMessagesRead && content.messages > 0; ++i) {
      mcap::Messages messages =
          reader.messages({.start = statistics.message_start_time + span / kMessagesRead * i,
                           .wanted = [&](const mcap::Channel& channel) { return topics.contains(channel.topic); }});
      const auto message = messages.next();
      if (!message) continue;
      const mcap::View data = message->message.data;
      const auto* const bytes = reinterpret_cast<const std::uint8_t*>(data.data());
      const bool intact = data.size() > kCdrPrefixBytes &&
                          check_payload({bytes + kCdrPrefixBytes, data.size() - kCdrPrefixBytes}).intact;
      if (!intact) ++content.damaged;
    }
  }
  return content;
}

std::optional<RunFigures> run_once(const RunSpec& spec, const Setting& setting) {
  RunFigures out;
  Sensors sensors = spec.sensors;
  Beside beside(spec, setting, sensors);
  const bool records_topics = spec.peer == Peer::Cardan || spec.peer == Peer::CardanAsap || spec.peer == Peer::Speed ||
                              spec.peer == Peer::Rosbag2Topics;
  if (records_topics)
    for (SensorGroup& group : sensors) group.readers += 1;
  const auto recorder = start_recorder(spec, setting);
  Actor* makers = recorder == nullptr ? nullptr : recorder->sensors();
  std::unique_ptr<Actor> producers;
  if (makers == nullptr && spec.peer != Peer::Alone) {
    if (recorder != nullptr) recorder->await_ready();
    producers = std::make_unique<Actor>("record",
                                        nlohmann::json{{"part", "producer"},
                                                       {"sensors", to_json(sensors)},
                                                       {"schedule", name_of(spec.schedule)},
                                                       {"seconds", spec.seconds},
                                                       {"cpu", setting.producer_cpu}},
                                        setting.run_dir);
    makers = producers.get();
    producers->await_ready(setting.stopped);
  } else if (recorder != nullptr) {
    recorder->await_ready();
  }
  beside.each([&](Actor& actor) { actor.await_ready(setting.stopped); });
  if (setting.stopped()) return std::nullopt;

  // Everything is ready; now it is measured.
  const Look look = [&] {
    if (setting.stopped()) throw Error(ErrorCode::Unavailable, "stopped", {});
    if (recorder != nullptr) out.memory_mib = std::max(out.memory_mib, private_memory_mib(recorder->pid()));
  };
  const CpuTicks before = read_cpu_ticks();
  const std::int64_t start = now_ns();
  if (recorder != nullptr) recorder->go();
  beside.each([](Actor& actor) { actor.go(); });
  if (producers != nullptr) producers->go();
  const std::int64_t latest = seconds_from_now(30 + 3 * spec.seconds);
  if (makers != nullptr) makers->await_done(latest, setting.stopped, look);
  if (beside.task != nullptr) beside.task->await_done(latest, setting.stopped);
  if (setting.stopped()) return std::nullopt;

  std::vector<std::string> files;
  if (recorder != nullptr) {
    sleep_until(now_ns() + kGrace);
    recorder->end();
    const double drain = bytes_per_second(sensors) * spec.seconds / kSlowestDisk;
    RecorderResult result = recorder->result(seconds_from_now(30 + drain), look);
    files = result.files;
    DiskFolder::synchronize(files);
    out.recorder_cpu = result.cpu;
    take_report(result.words, out);
    if (spec.peer == Peer::Rosbag2) take_sensors({{"made", result.words.at("made")}}, sensors, out);
    if (const std::string failure = result.words.is_object() ? result.words.value("failure", "") : ""; !failure.empty())
      throw Error(ErrorCode::System, "the recorder ended by itself: " + failure, {});
  }
  out.seconds = static_cast<double>(now_ns() - start) / 1e9;
  const CpuTicks after = read_cpu_ticks();
  out.steal_percent = steal_percent(before, after);

  const std::int64_t until = now_ns() + 30 * kSecondNs;
  beside.take_results(until, out);
  if (producers != nullptr) {
    producers->end();
    take_sensors(producers->await_result(until), sensors, out);
  } else if (makers != nullptr && spec.peer == Peer::Rosbag) {
    makers->end();
    take_sensors(makers->await_result(until), sensors, out);
  }
  out.recording_cpu_s = std::max(0.0, cpu_seconds(before, after) - out.producers_cpu_s);
  const FileContent content = content_of(files, sensors);
  out.recorded = content.messages;
  out.file_bytes = content.bytes;
  out.damaged = content.damaged;
  return out;
}

}  // namespace cardan::bench::recording
