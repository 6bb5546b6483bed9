// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace cardan::bench::recording {

/// When a producer makes its messages.
enum class Schedule : std::uint8_t {
  /// At start + n × period. A producer that is late by whole periods skips them, as a camera does.
  Absolute,
  /// As rosbag2_performance_benchmarking: the message, then a sleep of 1000 / rate milliseconds, cut to whole ones. So
  /// 36 Hz become 37.04 less what making a message takes, and the beats drift.
  IntegerMs,
};

[[nodiscard]] constexpr std::string_view name_of(Schedule schedule) noexcept {
  return schedule == Schedule::Absolute ? "absolute" : "integer-ms";
}

/// The beats of one producer. Not to be shared by threads; never blocks.
class Beats {
 public:
  /// `count` messages, the first at `start_ns` of the steady clock.
  Beats(Schedule schedule, double rate_hz, std::uint64_t count, std::int64_t start_ns) noexcept
      : schedule_(schedule),
        period_ns_(static_cast<std::int64_t>(1e9 / rate_hz)),
        whole_ms_ns_(static_cast<std::int64_t>(1000 / rate_hz) * 1'000'000),
        left_(count),
        next_ns_(start_ns) {}

  [[nodiscard]] bool done() const noexcept { return left_ == 0; }
  /// Until when to sleep before the next message.
  [[nodiscard]] std::int64_t due_ns() const noexcept { return next_ns_; }
  /// The message is out, and it is `now_ns`.
  void made(std::int64_t now_ns) noexcept {
    --left_;
    if (schedule_ == Schedule::IntegerMs) {
      next_ns_ = now_ns + whole_ms_ns_;
      return;
    }
    next_ns_ += period_ns_;
    while (left_ > 0 && now_ns >= next_ns_ + period_ns_) {
      next_ns_ += period_ns_;
      --left_;
      ++skipped_;
    }
  }
  /// Beats that passed while the producer was kept from its CPU; they count as not made.
  [[nodiscard]] std::uint64_t skipped() const noexcept { return skipped_; }

 private:
  Schedule schedule_;
  std::int64_t period_ns_, whole_ms_ns_;
  std::uint64_t left_, skipped_ = 0;
  std::int64_t next_ns_;
};

}  // namespace cardan::bench::recording
