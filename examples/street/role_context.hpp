// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <string>

#include "cardan/memory/clock.hpp"
#include "examples/street/note.hpp"
#include "examples/street/roles.hpp"

namespace cardan::street {

/// What each role tells its parent.
class Reporter {
 public:
  explicit Reporter(const RoleOptions& options) : fd_(options.note_fd), picture_fd_(options.picture_fd) {}

  void ready(const std::string& what, std::uint64_t width = 0) const {
    Note note;
    note.kind = Note::Kind::Ready;
    note.text = what;
    note.sequence = width;
    send_note(fd_, note);
  }
  template <class Sample>
  void received(HopIndex hop, const Sample& sample, std::uint64_t bytes) const {
    Note note;
    note.kind = Note::Kind::Received;
    note.topic = hop;
    note.sequence = sample.sequence();
    note.missed = sample.missed();
    note.bytes = bytes;
    note.published = sample.publish_time();
    note.asked = sample.asked;
    note.received = sample.received;
    send_note(fd_, note);
  }
  void decided(HopIndex sensor, std::uint64_t sequence, std::int64_t when, bool brake, float distance,
               std::string_view reason) const {
    Note note;
    note.kind = Note::Kind::Decided;
    note.topic = sensor;
    note.sequence = sequence;
    note.received = when;
    note.brake = brake;
    note.distance = distance;
    note.text = reason;
    send_note(fd_, note);
  }
  [[nodiscard]] bool wants_picture() const noexcept { return picture_fd_ >= 0; }
  /// Hands the parent a picture; once, at the end.
  void picture(const cv::Mat& picture) const;

 private:
  int fd_;
  int picture_fd_;
};

// One function a role; each is written once for both transports (CardanBus, SocketBus).
void run_camera(const RoleOptions& options, const Reporter& report);
void run_lidar(const RoleOptions& options, const Reporter& report);
void run_detector(const RoleOptions& options, const Reporter& report);
void run_obstacles(const RoleOptions& options, const Reporter& report);
void run_decision(const RoleOptions& options, const Reporter& report);

/// Calls `f(bus)` with the transport that was asked for.
template <class CardanBus, class SocketBus, class F>
void with_bus(const RoleOptions& options, F&& f) {
  if (options.transport == Transport::Cardan) {
    CardanBus bus;
    f(bus);
  } else {
    SocketBus bus(options.socket_folder);
    f(bus);
  }
}

}  // namespace cardan::street
