// SPDX-License-Identifier: Apache-2.0
#include "src/record/schedule/disk_speed.hpp"

#include <algorithm>

#include "src/record/schedule/estimate.hpp"

namespace cardan::record::schedule {

void DiskSpeed::issued(std::uint64_t bytes, std::int64_t now) noexcept {
  if (bytes == 0) return;
  if (in_flight_ == 0) {
    begun_ns_ = since_ns_ = now;
    measured_ = 0;
  }
  in_flight_ += bytes;
}

void DiskSpeed::completed(std::uint64_t bytes, std::int64_t now) noexcept {
  constexpr std::uint64_t kEnough = 256 * 1024;  // of less, the time is latency rather than speed
  constexpr std::int64_t kLong = 50 * kMillisecond;
  const std::uint64_t done = std::min(bytes, in_flight_);
  in_flight_ -= done;
  measured_ += done;
  if (in_flight_ == 0) done_ns_ = now;
  if (in_flight_ != 0 && now - since_ns_ < kLong) return;
  if (measured_ >= kEnough && now > since_ns_) {
    const double seen = static_cast<double>(measured_) / static_cast<double>(now - since_ns_);
    speed_ = speed_ == 0 ? seen : speed_ + (seen - speed_) / 4;
  }
  since_ns_ = now;
  measured_ = 0;
}

}  // namespace cardan::record::schedule
