// SPDX-License-Identifier: Apache-2.0
#include "demo/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <string_view>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "demo/sensors/camera_source.hpp"
#include "demo/sensors/lidar_source.hpp"

namespace cardan::street {
namespace {

constexpr std::int64_t kStartPatience = 60'000'000'000;  // ns; for a slow URL, or a busy computer
constexpr std::int64_t kWarmUp = 500'000'000;
constexpr std::int64_t kSilence = 5'000'000'000;  // of a UDP port; a Velodyne sends 750 packets a second and more
constexpr std::int64_t kShowEvery = 250'000'000;

volatile std::sig_atomic_t caught = 0;

}  // namespace

void catch_signals() {
  struct sigaction action{};
  action.sa_handler = [](int) { caught = caught + 1; };
  // SIGPIPE: `cardan demo | head`. The demo ends in order and leaves no folder.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::sigaction(signal, &action, nullptr);
}

int signals_caught() noexcept { return caught; }

Run::Run(const DemoOptions& options, Setup setup, View& view) : options_(options), setup_(setup), view_(view) {
  inputs_.camera = inputs_.lidar = "…";
  inputs_.camera_drawn = options.camera == kDrawn;
  inputs_.lidar_simulated = options.lidar.empty();
}

void Run::fail(const std::string& cause, const std::string& remedy) {
  if (!failure_.empty()) return;
  failure_ = remedy.empty() ? cause : fmt::format("{} — {}", cause, remedy);
}

void Run::on_note(const Note& note) {
  if (over_) return;
  const std::string_view text = note.text;
  switch (note.kind) {
    case Note::Kind::Ready: {
      if (note.topic >= kRoles) break;
      const auto role = static_cast<Role>(note.topic);
      is_ready(role);
      if (role == Role::Camera) {
        inputs_.camera = text;
        image_width_ = note.sequence;
      }
      if (role == Role::Lidar) inputs_.lidar = text;
      break;
    }
    case Note::Kind::Failed:
      break;  // its receiver knows from whom
    case Note::Kind::Received:
      scan_came_ = scan_came_ || note.topic == kCloudHop;
      [[fallthrough]];
    case Note::Kind::Decided:
      measurements_.add(note);
      break;
  }
}

double Run::own_cpu_seconds() {
  double sum = 0;
  for (const Used& u : used()) sum += u.cpu_seconds;
  return sum;
}

void Run::show(std::int64_t now) {
  if (now - used_time_ > 1'000'000'000) {
    const double elapsed = static_cast<double>(now - used_time_) * 1e-9;
    const std::vector<Used> current = used();
    loads_.clear();
    for (const Used& u : current) {
      const auto before =
          std::find_if(used_before_.begin(), used_before_.end(), [&](const Used& b) { return b.process == u.process; });
      const double since = before == used_before_.end() ? u.cpu_seconds : before->cpu_seconds;
      // A process that was started again begins at 0.
      loads_.push_back({u.process, std::max(0.0, 100 * (u.cpu_seconds - since) / elapsed)});
    }
    used_before_ = current;
    used_time_ = now;
  }
  Moment moment;
  moment.setup = setup_;
  moment.measuring = begun_ != 0 && now >= begun_;
  moment.seconds = moment.measuring ? static_cast<double>(now - begun_) * 1e-9 : 0;
  moment.of_seconds = length_;
  for (std::size_t i = 0; i < kHops; ++i) moment.hops[i] = measurements_.recent(i, now);
  moment.cpu = loads_;
  moment.decision_us = measurements_.recent_decision_us(now);
  moment.decisions = measurements_.decisions();
  const Note& last = measurements_.last_decision();
  moment.has_decision = last.kind == Note::Kind::Decided;
  moment.brake = last.brake;
  moment.reason = last.text;
  view_.show(moment, inputs_);
}

bool Run::silent(std::int64_t now, bool time_is_up) const {
  return begun_ != 0 && !scan_came_ && (time_is_up || now - begun_ > kSilence) && is_udp_port(options_.lidar);
}

bool Run::tick() {
  if (over_) return true;
  const std::int64_t now = steady_now();
  const bool all_ready = std::all_of(ready_.begin(), ready_.end(), [](bool one) { return one; });
  if (begun_ == 0 && all_ready) {
    begun_ = now + kWarmUp;
    measurements_.begin(begun_);
    load_before_ = HostLoad::now();
    own_before_ = own_cpu_seconds();
  }
  if (begun_ == 0 && now - started_ > kStartPatience) {
    std::string missing;
    for (std::size_t i = 0; i < kRoles; ++i) {
      if (!ready_[i]) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", kRoleNames[i]);
    }
    fail(missing + ": not ready after 60 s",
         "check that the camera delivers pictures (ffprobe) and that the computer is not overloaded");
  }
  if (now - shown_ > kShowEvery) {
    show(now);
    shown_ = now;
  }
  const bool time_is_up = begun_ != 0 && static_cast<double>(now - begun_) * 1e-9 >= length_;
  if (silent(now, time_is_up))
    fail(fmt::format("no scan of a Velodyne arrived at UDP port {} within {:.0f} s", options_.lidar,
                     std::ceil(static_cast<double>(now - begun_) * 1e-9)),
         fmt::format("check that the sensor is an HDL-32E or VLP-16 and sends to this computer: tcpdump -ni any "
                     "udp port {}",
                     options_.lidar));
  if (!time_is_up && failure_.empty() && signals_caught() == 0) return false;
  over_ = true;
  if (begun_ != 0 && now > begun_) {
    measured_ = static_cast<double>(now - begun_) * 1e-9;
    disturbed_ = disturbance(load_before_, HostLoad::now(), own_cpu_seconds() - own_before_);
  }
  return true;
}

bool Run::go(double seconds) {
  length_ = seconds;
  started_ = steady_now();
  try {
    run();
  } catch (const Error& error) {
    fail(error.cause(), error.remedy());
  }
  view_.finish();
  return failure_.empty();
}

}  // namespace cardan::street
