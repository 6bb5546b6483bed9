// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace cardan::record {

/// When what is due, in arithmetic alone. A position is nanoseconds of the recording since its first message that is
/// played; while it runs, positions pass at `rate` times the steady clock. Deadlines are absolute, from where it was
/// last changed: lateness does not add up. Not to be shared by threads; never blocks.
class PlayClock {
 public:
  explicit PlayClock(double rate) noexcept : rate_(rate) {}

  [[nodiscard]] double rate() const noexcept { return rate_; }
  [[nodiscard]] bool running() const noexcept { return running_; }

  /// Where it is at this steady time.
  [[nodiscard]] std::int64_t position(std::int64_t now) const noexcept {
    return running_ ? position_ + scaled(now - at_, rate_) : position_;
  }
  /// The steady time at which a position is due, if it runs on as it does.
  [[nodiscard]] std::int64_t deadline(std::int64_t position) const noexcept {
    return at_ + scaled(position - position_, 1 / rate_);
  }

  void run(std::int64_t now, bool running) noexcept {
    jump(now, position(now));
    running_ = running;
  }
  void set_rate(std::int64_t now, double rate) noexcept {
    jump(now, position(now));
    rate_ = rate;
  }
  /// Continues from there.
  void jump(std::int64_t now, std::int64_t position) noexcept {
    at_ = now;
    position_ = position;
  }
  /// Delays all messages that are still to come by this many nanoseconds of the steady clock.
  void give_way(std::int64_t nanoseconds) noexcept { at_ += nanoseconds; }

 private:
  /// A file may say anything of its times: what would not fit is as late as never.
  static std::int64_t scaled(std::int64_t nanoseconds, double factor) noexcept {
    constexpr double kMost = 2e18;
    return static_cast<std::int64_t>(std::clamp(static_cast<double>(nanoseconds) * factor, -kMost, kMost));
  }

  double rate_;
  bool running_ = false;
  std::int64_t at_ = 0;        ///< steady clock
  std::int64_t position_ = 0;  ///< at that time
};

}  // namespace cardan::record
