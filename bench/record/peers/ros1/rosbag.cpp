// SPDX-License-Identifier: Apache-2.0
// ROS 1's own recorder: a master, `rosbag record`, and a program that publishes cameras (program.cpp).
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>

#include "bench/record/recorder_process.hpp"
#include "bench/ros_master.hpp"
#include "bench/transport/clock.hpp"
#include "cardan/error.hpp"
#include "src/system/launcher/own_program.hpp"

namespace cardan::bench::recording {
namespace {

constexpr const char* kCameras = "cardan-bench-rosbag";
constexpr const char* kRosbagInstall =
    "apt-get install python3-rosbag python3-rosmaster libroscpp-dev libstd-msgs-dev "
    "libnodeletlib-dev, then build again";
constexpr std::int64_t kRosbagLook = 200'000'000;

// The program that `rosbag record` starts: directly, because Python's part is not a cost of the recorder.
std::string find_record() {
  for (const char* folder : {"/usr/lib/rosbag", "/opt/ros/noetic/lib/rosbag"})
    if (const std::string path = std::string(folder) + "/record"; ::access(path.c_str(), X_OK) == 0) return path;
  return {};
}

// Of all processes that were waited for.
CpuTime cpu_of_children() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return {seconds(usage.ru_utime), seconds(usage.ru_stime)};
}

class Rosbag : public RecorderProcess {
 public:
  Rosbag(const RunSpec& spec, const Setting& setting)
      : file_(spec.file + ".bag"),
        stopped_(setting.stopped),
        master_(setting.stopped),
        record_({.program = find_record(),
                 .arguments = {"record", "-O", file_, spec.sensors.at(0).topic},
                 .environment = master_.environment()}),
        cameras_("cameras (ROS 1)", arguments_of(spec, setting)) {}

  void await_ready() override { cameras_.await_ready(stopped_); }
  void go() override { cameras_.go(); }
  void end() override { record_.child().signal(SIGINT); }
  RecorderResult result(std::int64_t until, const Look& look) override {
    const CpuTime before = cpu_of_children();
    std::optional<launcher::Ending> ending;
    while (!ending && now_ns() < until) {
      if (look) look();
      ending = record_.wait(std::min(until, now_ns() + kRosbagLook));
    }
    if (!ending || !ending->in_order())
      throw Error(
          ErrorCode::System,
          fmt::format("rosbag record {}: {}", ending ? text(*ending) : "did not end in time", record_.last_line()), {});
    return {.files = {file_}, .words = {{"mode", "ROS 1, buffered"}}, .cpu = cpu_of_children().since(before)};
  }
  [[nodiscard]] int pid() const override { return record_.child().pid(); }
  [[nodiscard]] Actor* sensors() override { return &cameras_; }

 private:
  launcher::ChildOptions arguments_of(const RunSpec& spec, const Setting& setting) const {
    const SensorGroup& group = spec.sensors.at(0);
    return {.program = launcher::own_program(kCameras),
            .arguments = {kCameras, group.topic, std::to_string(group.count), std::to_string(group.bytes),
                          fmt::format("{}", group.rate_hz), std::to_string(messages_in(group, spec.seconds)),
                          std::string(name_of(spec.schedule)), std::to_string(setting.producer_cpu),
                          std::to_string(master_.pid())},
            .environment = master_.environment()};
  }

  std::string file_;
  Stopped stopped_;
  RosMaster master_;
  Helper record_;
  Actor cameras_;
};

}  // namespace

std::string why_no_rosbag() {
  const auto sentence = [](const char* why) {
    return fmt::format("rosbag (ROS 1) left out: {}; to have it: {}.", why, kRosbagInstall);
  };
  if (find_record().empty()) return sentence("there is no rosbag");
  if (launcher::own_program(kCameras).empty()) return sentence("this build does not include its cameras");
  if (find_ros_master().empty()) return sentence("there is no rosmaster");
  return {};
}

std::unique_ptr<RecorderProcess> start_rosbag(const RunSpec& spec, const Setting& setting) {
  return std::make_unique<Rosbag>(spec, setting);
}

}  // namespace cardan::bench::recording
