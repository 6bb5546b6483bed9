// SPDX-License-Identifier: Apache-2.0
#include "demo/processes/cardan_run.hpp"

#include <fmt/format.h>

#include <array>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "demo/files.hpp"
#include "demo/processes/cpu_seconds.hpp"
#include "demo/sensors/kitti_calibration.hpp"
#include "src/config/json_text.hpp"
#include "src/system/launcher/crash.hpp"
#include "src/system/launcher/launcher_control.hpp"

namespace cardan::street {
namespace {

constexpr std::size_t kLastLines = 6;
/// Of street.json: all threads are alike.
constexpr std::array kWithoutPriorities = {"policy=other", "lidar=0",  "obstacles=0",
                                           "decision=0",   "urgent=0", "behind=0"};

/// A busy computer delays callbacks that are all right: then the demo continues.
constexpr std::array kPatient = {"watch_detector=60000", "watch_obstacles=60000", "watch_decision=60000"};

}  // namespace

std::vector<Run::Used> CardanRun::used() {
  std::vector<Used> all;
  for (const launcher::ProcessStatus& process : supervisor_->processes())
    if (const auto seconds = cpu_seconds_of(process.pid)) all.push_back({process.name, *seconds});
  return all;
}

void CardanRun::crash_if_due() {
  if (options().crash.empty() || crashed_at_ != 0 || begun() == 0) return;
  if (steady_now() < begun() + static_cast<std::int64_t>(length() / 3 * 1e9)) return;
  const std::string process = supervisor_->configuration().process_of(options().crash)->name;
  for (const launcher::ProcessStatus& status : supervisor_->processes()) {
    if (status.name != process || status.pid == 0) continue;
    launcher_error_ = {};
    crashed_at_ = steady_now();
    launcher::crash(status.pid);
  }
}

std::map<std::string, LatencyHistogram> CardanRun::ages() {
  std::map<std::string, LatencyHistogram> all;
  try {
    for (const host::ComponentReport& component : control_->components().components)
      for (const host::ChainReport& chain : component.chains) all[chain.chain] = chain.age;
  } catch (const Error&) {  // the tables show that nothing was measured
  }
  return all;
}

void CardanRun::look() {
  if (told_to_stop_) return;
  bool all_run = true;
  for (const launcher::ProcessStatus& status : supervisor_->processes()) {
    all_run = all_run && status.ready_ns != 0;
    const std::size_t expected = crashed_at_ != 0 && !options().crash.empty() ? 1 : 0;
    if (status.outages.size() <= expected && status.phase != launcher::Phase::GivenUp) continue;
    std::string words;
    for (const std::string& line : last_errors_[status.name]) words += "\n  " + line;
    fail(launcher_error_.empty() ? status.name + " did not start" : launcher_error_ + words);
  }
  if (all_run)
    for (const Role role : {Role::Detector, Role::Obstacles, Role::Decision}) is_ready(role);
  while (const Sample<Note> note = notes_->take()) on_note(*note);
  crash_if_due();
  const bool is_over = tick();
  if (begun() != 0 && !ages_before_) ages_before_ = ages();
  if (!is_over) return;
  told_to_stop_ = true;
  if (begun() != 0)
    for (const auto& [chain, now] : ages()) measure(chain, latency_since(now, (*ages_before_)[chain]));
  supervisor_->stop();  // once: a second time means at once
}

std::vector<std::string> CardanRun::parameters() const {
  std::vector<std::string> all;
  const auto number = [&](const char* parameter, auto value) { all.push_back(fmt::format("{}={}", parameter, value)); };
  const auto text = [&](const char* parameter, const std::string& value) {
    number(parameter, config::json_quoted(value));
  };
  const DemoOptions& o = options();
  text("camera/video", o.camera);
  text("camera/lidar", o.lidar);
  text("camera/calibration", o.calibration);
  text("lidar/source", o.lidar);
  text("lidar/camera", o.camera);
  for (const char* driver : {"camera/origin_ns", "lidar/origin_ns"}) number(driver, origin());
  text("detector/model", o.detector);
  number("obstacles/own_front_m", o.own.front);
  number("obstacles/own_rear_m", o.own.rear);
  number("obstacles/own_side_m", o.own.side);
  if (!o.picture.empty()) {
    text("detector/picture", camera_picture());
    text("obstacles/picture", obstacles_picture());
  }
  return all;
}

void CardanRun::run() {
  plan::PlanOptions changes{.set = parameters(), .one_process = setup() == Setup::OneProcess};
  changes.variables.assign(kPatient.begin(), kPatient.end());
  if (setup() == Setup::WithoutPriorities)
    changes.variables.insert(changes.variables.end(), kWithoutPriorities.begin(), kWithoutPriorities.end());
  plan::Plan plan = street_plan(changes);
  if (const std::string& folder = options().calibration; !folder.empty())
    plan.configuration.transforms = transforms_of(read_kitti_calibration(folder, kitti_camera_of(options().camera)));
  launcher::LauncherOptions launch{.reports = options().reports};
  launch.grace = std::chrono::seconds{20};  // the demo also runs on computers that are busy with other things
  launch.tick = std::chrono::milliseconds{100};
  launch.on_tick = [this] { look(); };
  launch.on_line = [this](const launcher::LogLine& line) {
    if (line.source == launcher::LogLine::Source::Launcher && line.level == LogLevel::Error && launcher_error_.empty())
      launcher_error_ = line.text;
    if (line.source != launcher::LogLine::Source::Error) return;
    auto& lines = last_errors_[std::string(line.name)];
    lines.emplace_back(line.text);
    if (lines.size() > kLastLines) lines.pop_front();
  };
  const std::string domain = plan.configuration.domain;
  notes_ = std::make_unique<Subscriber<Note>>(kNotes, SubscriberOptions{.domain = domain});
  control_ = std::make_unique<host::ControlClient>(host::ControlOptions{.domain = domain});
  supervisor_ = std::make_unique<launcher::Supervisor>(std::move(plan), launch);
  {
    const launcher::LauncherControl control(*supervisor_, domain);  // `cardan view`, `top` and `component list` ask it
    static_cast<void>(supervisor_->run());
  }
  for (const launcher::ProcessStatus& status : supervisor_->processes())
    if (status.killed)
      fmt::print(stderr, "{} did not end within {} s and was killed\n", status.name,
                 launch.grace.count() / 1'000'000'000);
  if (crashed_at_ != 0) crash_ = what_followed(*supervisor_, options().crash, crashed_at_, figures());
}

}  // namespace cardan::street
