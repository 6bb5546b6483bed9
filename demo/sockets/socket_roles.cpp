// SPDX-License-Identifier: Apache-2.0
// The comparison: the same five steps as processes that talk over Unix sockets.
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "cardan/error.hpp"
#include "cardan/realtime.hpp"
#include "cardan/stop.hpp"
#include "demo/processes/roles.hpp"
#include "demo/sockets/socket_bus.hpp"
#include "demo/steps.hpp"

namespace cardan::street {
namespace {

template <class Sample>
void report(const RoleOptions& options, HopIndex hop, const Sample& sample, std::size_t bytes) {
  Note note;
  note.kind = Note::Kind::Received;
  note.topic = hop;
  note.sequence = sample.sequence();
  note.missed = sample.missed();
  note.bytes = bytes;
  note.published = sample.publish_time();
  note.asked = sample.asked;
  note.received = sample.received;
  send_note(options.note_fd, note);
}

void ready(const RoleOptions& options, const std::string& what, std::uint64_t width = 0) {
  send_note(options.note_fd, ready_note(static_cast<std::uint8_t>(options.role), what, width));
}

template <class T, class Source>
void run_driver(const RoleOptions& options, Source& source, std::uint64_t width) {
  SocketBus bus(options.socket_folder);
  SocketBus::Output<T> out(bus, topic_of(source));
  ready(options, source.describe(), width);
  while (source.wait(&stopping)) {
    auto message = out.loan();
    fill(*message, source, out.published() + 1);
    out.publish(std::move(message));
  }
}

template <class In, class Out, class Step>
void run_finder(const RoleOptions& options, HopIndex hop, const Topic<In>& from, const Topic<Out>& to, Step& step) {
  SocketBus bus(options.socket_folder);
  SocketBus::Input<In> in(bus, from);
  SocketBus::Output<Out> out(bus, to);
  ready(options, {});
  while (auto sample = bus.next(in)) {
    report(options, hop, sample, sample->data.size());
    auto found = out.loan();
    step.find(*sample, sample.sequence(), *found);
    out.publish(std::move(found));
  }
}

void run_decision(const RoleOptions& options) {
  SocketBus bus(options.socket_folder);
  SocketBus::Input<Detections2D> pictures(bus, kSeen);
  SocketBus::Input<Detections3D> obstacles(bus, kObstacles);
  SocketBus::Output<Decision> out(bus, kDecisions);
  DecisionStep step;
  ready(options, {});
  const auto decide = [&](HopIndex sensor, const Header& header) {
    auto decision = out.loan();
    step.decide(header, steady_now(), *decision);
    const Decision made = *decision;
    out.publish(std::move(decision));
    send_note(options.note_fd,
              decided_note(sensor, header.sequence, steady_now(), made.brake, made.distance, made.reason));
  };
  while (true) {
    const auto [seen, found] = bus.next_of(pictures, obstacles);
    if (!seen && !found) break;
    if (seen) step.see(*seen, options.image_width, steady_now());
    if (found) step.see(*found, steady_now());
    if (seen) decide(kImageHop, seen->header);
    if (found) decide(kCloudHop, found->header);
    if (seen) report(options, kSeenHop, seen, seen->detections.size() * sizeof(Detection2D));
    if (found) report(options, kObstaclesHop, found, found->detections.size() * sizeof(Detection3D));
  }
}

void run(const RoleOptions& options) {
  switch (options.role) {
    case Role::Camera: {
      const auto camera = open_camera(options.camera, {.folder = options.lidar, .origin = options.origin});
      return run_driver<Image>(options, *camera, static_cast<std::uint64_t>(camera->width()));
    }
    case Role::Lidar: {
      const auto lidar = open_lidar(options.lidar, {.folder = options.camera, .origin = options.origin});
      return run_driver<PointCloud>(options, *lidar, 0);
    }
    case Role::Detector: {
      DetectStep step({.model = options.detector});
      return run_finder(options, kImageHop, kImages, kSeen, step);
    }
    case Role::Obstacles: {
      ObstacleStep step(options.own);
      return run_finder(options, kCloudHop, kClouds, kObstacles, step);
    }
    case Role::Decision:
      return run_decision(options);
  }
}

}  // namespace

int run_role(const RoleOptions& options) {
  // Without its parent nobody would end it.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() == 1 && options.note_fd >= 0) return 1;
  stop_on_signals();
  static_cast<void>(realtime({.priority = options.priority, .nice = options.nice}));  // the demo says what is permitted
  const auto fail = [&](const std::string& cause, const std::string& remedy) {
    const Note note = failed_note(cause, remedy, 1);
    if (!send_note(options.note_fd, note)) std::fprintf(stderr, "%s\n", std::string(note.text).c_str());
    return 1;
  };
  try {
    run(options);
  } catch (const Error& error) {
    return fail(error.cause(), error.remedy());
  } catch (const std::exception& error) {
    return fail(error.what(), "this is a bug: please report it");
  }
  return 0;
}

}  // namespace cardan::street
