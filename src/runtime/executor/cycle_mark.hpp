// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cardan {
class Cycle;
}

namespace cardan::detail {

/// Makes each call of a callback a cycle. Short calls are left out unless requested: marking one after some idle
/// milliseconds costs microseconds of cache misses, and a recorder cannot write to a disk around them.
/// The thread that runs the callback; never blocks.
class CycleMark {
 public:
  static constexpr std::int64_t kShort = 200'000;  ///< nanoseconds; a call that takes less on average is short

  /// Call it before anything runs. `cycle` must outlive the last call.
  void set(Cycle& cycle, bool also_short) noexcept;

  void begin() noexcept {
    if (marks_) begin_cycle();
  }
  /// The call took `worked_ns`.
  void end(std::int64_t worked_ns) noexcept {
    if (cycle_ != nullptr) end_cycle(worked_ns);
  }

 private:
  void begin_cycle() noexcept;
  void end_cycle(std::int64_t worked_ns) noexcept;

  Cycle* cycle_ = nullptr;
  bool marks_ = false;
  bool also_short_ = false;
  std::int64_t average_ns_ = 0;
};

}  // namespace cardan::detail
