// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cardan::bridge::foxglove {

/// The numbers are those of Foxglove's protocol.
enum class PlaybackStatus : std::uint8_t { Playing = 0, Paused = 1, Ended = 3 };

struct PlaybackState {
  PlaybackStatus status = PlaybackStatus::Paused;
  std::int64_t time_ns = 0;  ///< log time
  float speed = 1;
  bool operator==(const PlaybackState&) const = default;
};

/// A recording that is played in the bridge's domain, and its controls. Its messages have their log times as source
/// times.
/// Thread safety: the bridge's thread. No function blocks but finish() and the destructor.
class Playback {
 public:
  Playback() = default;
  Playback(const Playback&) = delete;
  Playback& operator=(const Playback&) = delete;
  virtual ~Playback() = default;

  [[nodiscard]] virtual const std::string& name() const noexcept = 0;
  /// Log times of the first and the last message.
  [[nodiscard]] virtual std::int64_t start_ns() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t end_ns() const noexcept = 0;
  /// The recording's contents, as a JSON object for the page.
  [[nodiscard]] virtual const std::string& contents() const noexcept = 0;
  [[nodiscard]] virtual PlaybackState state() const = 0;

  /// `again`: from the start if it is at its end.
  virtual void play(bool again) = 0;
  virtual void pause() = 0;
  /// Pauses, and plays this number of messages.
  virtual void step(std::uint32_t messages) = 0;
  /// To a log time; one outside of the recording is its start or end.
  virtual void seek(std::int64_t time_ns) = 0;
  /// Seconds of the recording in one second; above zero.
  virtual void set_speed(float speed) = 0;

  /// Throws Error if it cannot continue.
  virtual void check() const = 0;
  /// Ends it, and says what was damaged. Returns whether nothing was.
  [[nodiscard]] virtual bool finish() = 0;
};

}  // namespace cardan::bridge::foxglove
