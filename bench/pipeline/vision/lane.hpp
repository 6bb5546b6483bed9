// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <opencv2/core.hpp>
#include <vector>

#include "bench/pipeline/messages.hpp"

namespace cardan::bench::perception {

/// Finds the lane's lines left and right of the vehicle, in the steps of ComP's lane detection: contours and their
/// geometry, a scan of pixels, a line fit. Not thread safe.
class LaneFinder {
 public:
  /// `picture`: 8-bit BGR; the road is in its lower half, and the vehicle in the middle of its lower edge. A line that
  /// is not there is not found. It reads the picture only, and keeps none of its pixels.
  std::array<LaneLine, 2> find(const cv::Mat& picture);

 private:
  void keep_long_contours();
  void scan();

  cv::Mat grey_, edges_, mask_;
  std::vector<std::vector<cv::Point>> contours_;
  std::array<std::vector<cv::Point2f>, 2> sides_;
};

}  // namespace cardan::bench::perception
