// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cardan::record::schedule {

/// Lets bytes go at a rate: a bucket that fills with it, and goes into debt for what is larger than its content,
/// because a frame is written whole. Times are nanoseconds of a steady clock. One thread; does not block, allocates
/// nothing.
class Pacer {
 public:
  /// `least`: bytes below which a write is not worth its cost.
  explicit Pacer(std::uint64_t least) noexcept : least_(static_cast<double>(least)) {}

  struct Step {
    std::uint64_t bytes = 0;  ///< may go now
    std::int64_t next_ns = 0;
  };
  /// `rate` in bytes per nanosecond, above 0.
  Step step(double rate, std::uint64_t waiting, std::int64_t now) noexcept;
  void issued(std::uint64_t bytes) noexcept;

 private:
  double least_;
  double credit_ = 0;
  std::int64_t last_ns_ = 0;
};

}  // namespace cardan::record::schedule
