// SPDX-License-Identifier: Apache-2.0
#include "bench/record/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/transport/options.hpp"
#include "cardan/error.hpp"

namespace cardan::bench::recording {
namespace {

constexpr const char* kPeerWords = "fio,cardan,speed,rosbag2,rosbag";
constexpr const char* kPartWords = "rate,phases,cameras,mix,task,bystander,pipeline";

[[noreturn]] void wrong(const std::string& what, const std::string& remedy) {
  throw Error(ErrorCode::InvalidArgument, what, remedy);
}

void check_range(const char* option, double value, double least, double most) {
  if (value != 0 && !(value >= least && value <= most))
    wrong(fmt::format("{} {:g} is out of range", option, value), fmt::format("from {:g} to {:g}", least, most));
}

Part part_of(const std::string& word) {
  for (int i = 0; i < kParts; ++i)
    if (const auto part = static_cast<Part>(i); name_of(part) == word) return part;
  wrong(fmt::format("--only: there is no part '{}'", word), fmt::format("use some of {}", kPartWords));
}

std::set<Part> parts_of(const std::string& words) {
  std::set<Part> parts;
  for (const std::string& word : split(words.empty() ? kPartWords : words)) parts.insert(part_of(word));
  if (parts.empty()) wrong("--only names nothing", fmt::format("use some of {}", kPartWords));
  return parts;
}

std::set<std::string, std::less<>> peers_of(const std::string& words) {
  const std::vector<std::string> known = split(kPeerWords);
  std::set<std::string, std::less<>> peers;
  for (const std::string& word : split(words.empty() ? kPeerWords : words)) {
    if (std::find(known.begin(), known.end(), word) == known.end())
      wrong(fmt::format("--peers: there is no peer '{}'", word), fmt::format("use some of {}", kPeerWords));
    peers.insert(word);
  }
  if (peers.empty()) wrong("--peers names nobody", fmt::format("use some of {}", kPeerWords));
  return peers;
}

std::vector<Schedule> schedules_of(const std::string& word) {
  if (word.empty() || word == "both") return {Schedule::Absolute, Schedule::IntegerMs};
  for (const Schedule schedule : {Schedule::Absolute, Schedule::IntegerMs})
    if (word == name_of(schedule)) return {schedule};
  wrong(fmt::format("--schedule: there is no '{}'", word), "use absolute, integer-ms or both");
}

int cpu_for(const char* option, int asked, std::size_t usual, const std::vector<int>& cpus) {
  if (asked < 0) return cpus[usual % cpus.size()];
  if (std::find(cpus.begin(), cpus.end(), asked) == cpus.end())
    wrong(fmt::format("{}: this process may not use CPU {}", option, asked),
          fmt::format("use one of {}", fmt::join(cpus, ",")));
  return asked;
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
  if (a.quick && a.full) wrong("--quick and --full contradict each other", "give one of them");
  if (cpus.empty()) wrong("this process may use no CPU", "check its affinity with taskset -p");
  check_range("--seconds", a.seconds, 0.5, 600);
  check_range("--runs", a.runs, 1, 100);
  check_range("--cameras", a.cameras, 1, 64);
  RecordOptions o;
  o.parts = parts_of(a.only);
  o.peers = peers_of(a.peers);
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
  o.producer_cpu = cpu_for("--producer-cpu", a.producer_cpu, 0, cpus);
  o.task_cpu = cpu_for("--task-cpu", a.task_cpu, cpus.size() - 1, cpus);
  o.folder = a.folder;
  o.json = a.json;
  o.keep = a.keep;
  return o;
}

}  // namespace cardan::bench::recording
