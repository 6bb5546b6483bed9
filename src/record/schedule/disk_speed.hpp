// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cardan::record::schedule {

/// The disk's rate, from when writes were issued and completed. Times are nanoseconds of a steady clock. One
/// thread; does not block, allocates nothing.
class DiskSpeed {
 public:
  void issued(std::uint64_t bytes, std::int64_t now) noexcept;
  void completed(std::uint64_t bytes, std::int64_t now) noexcept;

  /// Bytes per nanosecond while it had something to do; 0: not known yet.
  [[nodiscard]] double speed() const noexcept { return speed_; }
  /// Whether writes were in flight then, as far as the last time that any were.
  [[nodiscard]] bool was_writing(std::int64_t time) const noexcept {
    return time >= begun_ns_ && begun_ns_ != 0 && (in_flight_ != 0 || time < done_ns_);
  }

 private:
  std::uint64_t in_flight_ = 0;
  std::uint64_t measured_ = 0;  ///< bytes completed since
  std::int64_t since_ns_ = 0;
  std::int64_t begun_ns_ = 0;  ///< since when something was in flight without a break
  std::int64_t done_ns_ = 0;
  double speed_ = 0;
};

}  // namespace cardan::record::schedule
