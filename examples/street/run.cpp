// SPDX-License-Identifier: Apache-2.0
#include "examples/street/run.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "cardan/memory/clock.hpp"
#include "cardan/memory/error.hpp"

namespace cardan::street {
namespace {

constexpr std::int64_t kStartPatience = 30'000'000'000;  // ns; a camera behind a URL takes its time
constexpr std::int64_t kWarmUp = 500'000'000;
constexpr std::chrono::milliseconds kTick{100};
constexpr std::chrono::milliseconds kPatience{3000};

volatile std::sig_atomic_t caught = 0;

}  // namespace

void catch_signals() {
  struct sigaction action{};
  action.sa_handler = [](int) { caught = caught + 1; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

int signals_caught() noexcept { return caught; }

Fd make_memory_file(const char* name) {
  Fd file{::memfd_create(name, MFD_CLOEXEC)};
  if (!file)
    throw Error(ErrorCode::System, "cannot make a memory file: " + std::generic_category().message(errno),
                "check `ulimit -n`");
  return file;
}

std::vector<unsigned char> contents(const Fd& file) {
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0 || info.st_size <= 0) return {};
  std::vector<unsigned char> bytes(static_cast<std::size_t>(info.st_size));
  const ssize_t got = ::pread(file.get(), bytes.data(), bytes.size(), 0);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

Run::Run(const DemoOptions& options, Transport transport, std::string socket_folder, View& view)
    : options_(options), transport_(transport), socket_folder_(std::move(socket_folder)), view_(view) {
  inputs_.camera = inputs_.lidar = "…";
  inputs_.lidar_simulated = options.lidar.empty();
  if (transport == Transport::Cardan && !options.picture.empty())
    pictures_ = {make_memory_file("people"), make_memory_file("obstacles")};
}

void Run::start(Role role) {
  Processes::Start start;
  start.name = name_of(role);
  start.program = "/proc/self/exe";
  start.arguments = {"demo",
                     fmt::format("--role={}", name_of(role)),
                     transport_ == Transport::Cardan ? "--transport=cardan" : "--transport=socket",
                     "--camera=" + options_.camera,
                     fmt::format("--image-width={}", image_width_),
                     "--socket-folder=" + socket_folder_,
                     "--note-fd",
                     "{note}",
                     "--picture-fd",
                     "{picture}"};
  if (!options_.lidar.empty()) start.arguments.push_back("--lidar=" + options_.lidar);
  if (role == Role::Detector) start.picture_fd = pictures_[0].get();
  if (role == Role::Obstacles) start.picture_fd = pictures_[1].get();
  processes_.start(start);
  started_.push_back(role);
}

void Run::on_note(std::size_t index, const Note& note) {
  const Role role = started_[index];
  switch (note.kind) {
    case Note::Kind::Ready:
      ready_[static_cast<std::size_t>(role)] = true;
      if (role == Role::Camera) {
        inputs_.camera = note.text;
        image_width_ = note.sequence;
      }
      if (role == Role::Lidar) inputs_.lidar = note.text;
      break;
    case Note::Kind::Failed: {
      if (!failure_.empty()) break;
      const std::size_t line = note.text.find('\n');
      failure_ = fmt::format("{}: {}", name_of(role), note.text.substr(0, line));
      if (line != std::string::npos) failure_ += "\n  what to do: " + note.text.substr(line + 1);
      break;
    }
    case Note::Kind::Received:
    case Note::Kind::Decided:
      measurements_.add(note);
      break;
  }
}

bool Run::all_ready() const noexcept {
  return std::all_of(ready_.begin(), ready_.end(), [](bool ready) { return ready; });
}

double Run::own_cpu_seconds() {
  double sum = 0;
  for (std::size_t i = 0; i < started_.size(); ++i) sum += processes_.cpu_seconds(i);
  return sum;
}

void Run::show(std::int64_t now, double of_seconds) {
  if (now - cpu_time_ > 1'000'000'000) {
    const double elapsed = static_cast<double>(now - cpu_time_) * 1e-9;
    for (std::size_t i = 0; i < started_.size(); ++i) {
      const auto role = static_cast<std::size_t>(started_[i]);
      const double used = processes_.cpu_seconds(i);
      if (cpu_time_ != 0) cpu_percent_[role] = 100 * (used - cpu_before_[role]) / elapsed;
      cpu_before_[role] = used;
    }
    cpu_time_ = now;
  }
  Moment moment;
  moment.transport = transport_;
  moment.measuring = begun_ != 0 && now >= begun_;
  moment.seconds = moment.measuring ? static_cast<double>(now - begun_) * 1e-9 : 0;
  moment.of_seconds = of_seconds;
  for (std::size_t i = 0; i < kHops; ++i) moment.hops[i] = measurements_.recent(i, now);
  moment.cpu_percent = cpu_percent_;
  moment.decision_us = measurements_.recent_decision_us(now);
  moment.decisions = measurements_.decisions();
  const Note& last = measurements_.last_decision();
  moment.has_decision = last.kind == Note::Kind::Decided;
  moment.brake = last.brake;
  moment.reason = last.text;
  view_.show(moment, inputs_);
}

bool Run::watch(double seconds) {
  const std::int64_t started = steady_now();
  const auto length = static_cast<std::int64_t>(seconds * 1e9);
  std::int64_t shown = 0;
  for (const Role role : {Role::Camera, Role::Lidar, Role::Detector, Role::Obstacles}) start(role);
  while (signals_caught() == 0) {
    processes_.poll(kTick, [this](std::size_t index, const Note& note) { on_note(index, note); });
    const std::int64_t now = steady_now();
    if (!failure_.empty()) return false;
    if (const auto ending = processes_.ended()) {
      // Its last note may say more than its exit code.
      processes_.poll(std::chrono::milliseconds{0},
                      [this](std::size_t index, const Note& note) { on_note(index, note); });
      if (failure_.empty()) failure_ = explain(*ending);
      return false;
    }
    // The decision process needs the camera's calibration, which here is the width of its pictures.
    if (started_.size() < kRoles && image_width_ != 0) start(Role::Decision);
    if (begun_ == 0 && all_ready()) {
      begun_ = now + kWarmUp;
      measurements_.begin(begun_);
      load_before_ = HostLoad::now();
      own_before_ = own_cpu_seconds();
    }
    if (begun_ == 0 && now - started > kStartPatience) {
      for (std::size_t i = 0; i < kRoles; ++i) {
        if (!ready_[i]) failure_ += fmt::format("{}{}", failure_.empty() ? "" : ", ", kRoleNames[i]);
      }
      failure_ +=
          ": not ready after 30 s\n  what to do: check that the camera delivers pictures (ffprobe) and that the "
          "computer is not overloaded";
      return false;
    }
    if (now - shown > 250'000'000) {
      show(now, seconds);
      shown = now;
    }
    if (begun_ != 0 && now - begun_ >= length) break;
  }
  return true;
}

bool Run::go(double seconds) {
  bool fine = false;
  try {
    fine = watch(seconds);
  } catch (const Error& error) {
    failure_ = fmt::format("{}\n  what to do: {}", error.cause(), error.remedy());
  }
  const std::int64_t end = steady_now();
  if (begun_ != 0 && end > begun_) {
    measured_ = static_cast<double>(end - begun_) * 1e-9;
    disturbed_ = disturbance(load_before_, HostLoad::now(), own_cpu_seconds() - own_before_);
  }
  view_.finish();
  // What comes from here on is no longer counted: a reader that is being ended misses frames for that reason alone.
  const auto killed = processes_.stop(kPatience, [this](std::size_t index, const Note& note) {
    if (note.kind == Note::Kind::Failed) on_note(index, note);
  });
  for (const std::string& name : killed) {
    fmt::print(stderr, "{} did not end within {} s and was killed\n", name, kPatience.count() / 1000);
  }
  return fine && failure_.empty();
}

}  // namespace cardan::street
