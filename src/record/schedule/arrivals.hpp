// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace cardan::record::schedule {

/// How many bytes came when, in 64 steps of equal length: enough to tell how much of what waits is how old, if what
/// came first goes first. Times are nanoseconds of a steady clock. One thread; does not block, allocates nothing.
class Arrivals {
 public:
  static constexpr std::int64_t kSteps = 64;

  explicit Arrivals(std::int64_t step_ns) noexcept : step_ns_(step_ns) {}

  void add(std::uint64_t bytes, std::int64_t now) noexcept;

  /// An upper bound of how many of `waiting` bytes came before `time`.
  [[nodiscard]] std::uint64_t older_than(std::int64_t time, std::uint64_t waiting) const noexcept;
  /// The least rate (bytes per nanosecond) at which all of `waiting` bytes leave within `horizon` of their arrival.
  [[nodiscard]] double least_rate(std::int64_t horizon, std::uint64_t waiting, std::int64_t now) const noexcept;

 private:
  [[nodiscard]] std::uint64_t in_step(std::int64_t step) const noexcept {
    return step >= 0 && step > newest_ - kSteps ? bytes_[static_cast<std::size_t>(step % kSteps)] : 0;
  }

  std::int64_t step_ns_;
  std::int64_t newest_ = 0;  ///< number of a step since the clock's zero
  std::array<std::uint64_t, kSteps> bytes_{};
};

/// Recent bytes per nanosecond: older ones count less. As Arrivals.
class ArrivalRate {
 public:
  static constexpr double kMemoryNs = 1e9;

  void add(std::uint64_t bytes, std::int64_t now) noexcept;
  [[nodiscard]] double at(std::int64_t now) const noexcept;

 private:
  double rate_ = 0;
  std::int64_t last_ns_ = 0;
};

}  // namespace cardan::record::schedule
