// SPDX-License-Identifier: Apache-2.0
#include "demo/sockets/socket_run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string_view>

#include "cardan/error.hpp"

namespace cardan::street {
namespace {

constexpr std::chrono::milliseconds kTick{100};
constexpr std::chrono::milliseconds kPatience{3000};

}  // namespace

void SocketRun::start(Role role) {
  Processes::Start start;
  // As urgent as the component is in Cardan's processes: what differs is what carries the messages.
  const config::Process* process = configuration_.process_of(std::string(name_of(role)));
  const config::Group* group = process != nullptr ? process->group(config::kDefaultGroup) : nullptr;
  start.name = name_of(role);
  start.program = "/proc/self/exe";
  start.arguments = {"demo",
                     fmt::format("--role={}", name_of(role)),
                     "--camera=" + options().camera,
                     fmt::format("--own-vehicle={},{},{}", options().own.front, options().own.rear, options().own.side),
                     fmt::format("--origin={}", origin()),
                     fmt::format("--priority={}", group != nullptr ? group->priority.value_or(0) : 0),
                     fmt::format("--nice={}", group != nullptr ? group->nice.value_or(0) : 0),
                     fmt::format("--image-width={}", image_width()),
                     "--socket-folder=" + folder_,
                     "--note-fd",
                     "{note}"};
  if (!options().lidar.empty()) start.arguments.push_back("--lidar=" + options().lidar);
  if (!options().detector.empty()) start.arguments.push_back("--detector=" + options().detector);
  processes_.start(start);
  started_.push_back(role);
}

void SocketRun::take(std::size_t index, const Note& note) {
  on_note(note);
  if (note.kind != Note::Kind::Failed) return;
  const std::string_view text = note.text;
  const std::size_t line = text.find('\n');
  fail(fmt::format("{}: {}", name_of(started_[index]), text.substr(0, line)),
       std::string(line == std::string_view::npos ? std::string_view() : text.substr(line + 1)));
}

std::vector<Run::Used> SocketRun::used() {
  std::vector<Used> all;
  for (std::size_t i = 0; i < started_.size(); ++i)
    all.push_back({std::string(name_of(started_[i])), processes_.cpu_seconds(i)});
  return all;
}

void SocketRun::supervise() {
  const auto on_note = [this](std::size_t index, const Note& note) { take(index, note); };
  for (const Role role : {Role::Camera, Role::Lidar, Role::Detector, Role::Obstacles}) start(role);
  do {
    processes_.poll(kTick, on_note);
    if (const auto ending = processes_.ended()) {
      // Its last note may say more than its exit code.
      processes_.poll(std::chrono::milliseconds{0}, on_note);
      fail(explain(*ending));
    }
    // The decision process needs the camera's calibration, which here is the width of its pictures.
    if (started_.size() < kRoles && image_width() != 0) start(Role::Decision);
  } while (!tick());
}

void SocketRun::run() {
  try {
    supervise();
  } catch (const Error& error) {
    fail(error.cause(), error.remedy());
  }
  const auto killed = processes_.stop(kPatience, [this](std::size_t index, const Note& note) { take(index, note); });
  for (const std::string& name : killed) {
    fmt::print(stderr, "{} did not end within {} s and was killed\n", name, kPatience.count() / 1000);
  }
}

}  // namespace cardan::street
