// SPDX-License-Identifier: Apache-2.0
#include "bench/record/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/results/arguments.hpp"

namespace cardan::bench::recording {
namespace {

constexpr const char* kPeerWords = "fio,cardan,speed,rosbag2,rosbag";
constexpr const char* kPartWords = "rate,phases,cameras,mix,task,bystander,pipeline";

std::set<Part> parts_of(const std::string& words) {
  std::set<Part> parts;
  for (const std::string& word : some_of("--only", words, kPartWords))
    for (int i = 0; i < kParts; ++i)
      if (name_of(static_cast<Part>(i)) == word) parts.insert(static_cast<Part>(i));
  return parts;
}

std::vector<Schedule> schedules_of(const std::string& word) {
  if (word.empty() || word == "both") return {Schedule::Absolute, Schedule::IntegerMs};
  for (const Schedule schedule : {Schedule::Absolute, Schedule::IntegerMs})
    if (word == name_of(schedule)) return {schedule};
  refuse(fmt::format("--schedule: there is no '{}'", word), "use absolute, integer-ms or both");
}

void for_each_runs(RecordOptions& o, const auto& change) {
  for (std::uint32_t* const runs : {&o.runs, &o.camera_runs, &o.task_runs, &o.bystander_runs, &o.pipeline_runs})
    change(*runs);
}

}  // namespace

bool RecordOptions::has(Peer peer) const {
  return peer == Peer::Alone || peer == Peer::Unrecorded || peers.contains(name_of(peer));
}

RecordOptions parse_options(const RecordArguments& a, const std::vector<int>& cpus) {
  if (a.quick && a.full) refuse("--quick and --full contradict each other", "give one of them");
  if (cpus.empty()) refuse("this process may use no CPU", "check its affinity with taskset -p");
  check_if_given("--seconds", a.seconds, 0.5, 600.0);
  check_if_given("--runs", a.runs, 1, 100);
  check_if_given("--cameras", a.cameras, 1, 64);
  RecordOptions o;
  o.parts = parts_of(a.only);
  const std::vector<std::string> peers = some_of("--peers", a.peers, kPeerWords);
  o.peers = {peers.begin(), peers.end()};
  o.schedules = schedules_of(a.schedule);
  if (a.quick) {
    o.seconds = 1;
    for_each_runs(o, [](std::uint32_t& runs) { runs = 1; });
    o.most_cameras = 2;
    o.rate_bytes = 1'000'000'000;
    o.rate_seconds = 3;
    o.scene_share = 1.0 / 96;
    if (a.schedule.empty()) o.schedules = {Schedule::Absolute};
  }
  if (a.full) {
    o.seconds = 10;
    for_each_runs(o, [](std::uint32_t& runs) { runs = std::max(runs, 5U); });
    o.scene_share = 1;
  }
  if (a.seconds > 0) {
    o.seconds = a.seconds;
    o.rate_seconds = std::min(o.rate_seconds, 3 * a.seconds);
  }
  if (a.runs > 0) for_each_runs(o, [&](std::uint32_t& runs) { runs = static_cast<std::uint32_t>(a.runs); });
  if (a.cameras > 0) o.most_cameras = static_cast<std::uint32_t>(a.cameras);
  o.producer_cpu = choose_cpu("--producer-cpu", a.producer_cpu, 0, cpus);
  o.task_cpu = choose_cpu("--task-cpu", a.task_cpu, cpus.size() - 1, cpus);
  o.folder = a.folder;
  o.json = a.json;
  o.keep = a.keep;
  return o;
}

}  // namespace cardan::bench::recording
