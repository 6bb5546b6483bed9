// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "demo/detector/picture_detector.hpp"

namespace cardan::street {

/// Finds what moves before a camera that stands still, and takes what is upright for a person. The background of each
/// cell of 4 x 4 pixels follows the pictures by one level of each colour a picture (A. Manzanera, "Σ-Δ background
/// subtraction", 2007). Cells that differ from it and touch each other are one thing. It needs neither a model nor a
/// library, and half a millisecond a picture. Limits: a person that stands still becomes background after seconds, two
/// that overlap are one, and with a camera that moves it finds nothing useful.
class MotionDetector final : public PictureDetector {
 public:
  [[nodiscard]] std::string name() const override { return "motion"; }
  std::span<const Seen> detect(const Picture& picture) override;

 private:
  static constexpr int kCell = 4;  // pixels a side
  struct Thing {
    int left, top, right, bottom, cells;
  };
  /// Of the newest picture: the cells that differ, with their neighbours, so that small gaps close.
  void compare(const Picture& picture);
  Thing flood(int x, int y);

  [[nodiscard]] std::size_t cell_at(int x, int y) const noexcept {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(x);
  }

  int columns_ = 0, rows_ = 0;
  std::vector<std::uint8_t> background_;
  std::vector<std::uint8_t> moving_;  // 1: differs or is next to one that does
  std::vector<int> open_;             // of flood()
  std::vector<Seen> seen_;
};

}  // namespace cardan::street
