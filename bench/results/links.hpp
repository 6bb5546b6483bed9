// SPDX-License-Identifier: Apache-2.0
// How many links at the same time a peer sustains: from the cells "1p1s …", "2x1p1s …", "4x1p1s …" of the transport.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/results/measurement.hpp"

namespace cardan::bench {

/// A number of links is sustained if at least these shares of the frames arrived, and of the rate were achieved.
inline constexpr double kLeastArrived = 0.99;
inline constexpr double kLeastOfRate = 0.95;

/// Of a cell such as "4x1p1s cv cpu=100": 4 and "1p1s cv cpu=100". Links are 0 if the cell has no such form; the cell
/// of a single link has no "1x".
[[nodiscard]] std::pair<std::uint32_t, std::string> split_links(const std::string& cell);

/// What a peer did with a number of links.
struct LinksPoint {
  std::uint32_t links = 0;
  double arrived = 0;  ///< share of the frames that were due
  double asked_hz = 0, achieved_hz = 0;
  [[nodiscard]] bool sustained() const noexcept {
    return arrived >= kLeastArrived && achieved_hz >= kLeastOfRate * asked_hz;
  }
};

/// A peer, by ascending numbers of links.
struct LinksOfPeer {
  std::string cell{};  ///< of one link, with the size and rate of its message
  std::string contender{};
  std::vector<LinksPoint> points{};
  std::vector<std::string> commands{};

  /// The greatest number that is sustained; 0: none is.
  [[nodiscard]] std::uint32_t sustained() const noexcept;
  /// "4", "8 or more" if that is the greatest number that was measured, "none".
  [[nodiscard]] std::string text() const;
};

/// "100 % at 49.8 Hz".
[[nodiscard]] std::string text_of(const LinksPoint& point);
/// When a number of links is sustained, in words for the reader of a report.
[[nodiscard]] std::string links_criterion();

/// Of each contender that was measured with several numbers of links, in the order of the measurements.
[[nodiscard]] std::vector<LinksOfPeer> links_of(const std::vector<const Measurement*>& measurements);

}  // namespace cardan::bench
