// SPDX-License-Identifier: Apache-2.0
#include "src/record/schedule/arrivals.hpp"

#include <algorithm>
#include <cmath>

namespace cardan::record::schedule {

void Arrivals::add(std::uint64_t bytes, std::int64_t now) noexcept {
  const std::int64_t step = std::max(newest_, now / step_ns_);
  if (step - newest_ >= kSteps)
    bytes_.fill(0);
  else
    for (std::int64_t s = newest_ + 1; s <= step; ++s) bytes_[static_cast<std::size_t>(s % kSteps)] = 0;
  newest_ = step;
  bytes_[static_cast<std::size_t>(step % kSteps)] += bytes;
}

std::uint64_t Arrivals::older_than(std::int64_t time, std::uint64_t waiting) const noexcept {
  // Bytes of the step that `time` lies in count as older: rather too much than too little.
  for (std::int64_t s = newest_; s > newest_ - kSteps && s > time / step_ns_; --s) {
    const std::uint64_t newer = in_step(s);
    if (newer >= waiting) return 0;
    waiting -= newer;
  }
  return waiting;
}

double Arrivals::least_rate(std::int64_t horizon, std::uint64_t waiting, std::int64_t now) const noexcept {
  double rate = static_cast<double>(waiting) / static_cast<double>(std::max(horizon, step_ns_));
  for (std::int64_t s = std::max(newest_, now / step_ns_); s > newest_ - kSteps; --s) {
    const std::uint64_t newer = s <= newest_ ? in_step(s) : 0;
    if (newer >= waiting) break;
    waiting -= newer;  // the rest came before this step began
    const std::int64_t left = std::max(horizon - (now - s * step_ns_), step_ns_);
    rate = std::max(rate, static_cast<double>(waiting) / static_cast<double>(left));
    if (left == step_ns_) break;
  }
  return rate;
}

void ArrivalRate::add(std::uint64_t bytes, std::int64_t now) noexcept {
  rate_ = at(now) + static_cast<double>(bytes) / kMemoryNs;
  last_ns_ = std::max(last_ns_, now);
}

double ArrivalRate::at(std::int64_t now) const noexcept {
  return rate_ * std::exp(-static_cast<double>(std::max<std::int64_t>(0, now - last_ns_)) / kMemoryNs);
}

}  // namespace cardan::record::schedule
