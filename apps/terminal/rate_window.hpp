// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "cardan/observer.hpp"

namespace cardan::apps {

/// A stream's rhythm over the last seconds, from the stamps of its publications. Those that nobody saw count in the
/// rate (their numbers tell), but not in the jitter. Not thread safe.
class RateWindow {
 public:
  explicit RateWindow(std::int64_t length_ns) : length_ns_(length_ns) {}

  /// Takes what is new of an ascending list.
  void add(const std::vector<ObservedStream::Stamp>& stamps);

  struct Figures {
    double rate_hz = 0;                ///< 0: fewer than two publications
    double jitter_ns = -1;             ///< standard deviation of the intervals; −1: fewer than two seen
    std::int64_t longest_gap_ns = -1;  ///< between two publications, or since the last one; −1: nothing seen
    std::uint64_t publications = 0;    ///< in the window
  };
  [[nodiscard]] Figures figures(std::int64_t now);
  [[nodiscard]] std::uint64_t last_sequence() const {
    return stamps_.empty() ? last_sequence_ : stamps_.back().sequence;
  }

 private:
  std::int64_t length_ns_;
  std::uint64_t last_sequence_ = 0;
  std::deque<ObservedStream::Stamp> stamps_;
};

}  // namespace cardan::apps
