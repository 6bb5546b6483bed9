// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <opencv2/tracking.hpp>
#include <opencv2/tracking/tracking_legacy.hpp>
#include <vector>

#include "bench/pipeline/messages.hpp"

namespace cardan::bench::perception {

/// The tracker: follows what the detector has found, each by OpenCV's MOSSE filter (Bolme 2010), which ComP uses. While
/// it has no target it follows what is in the middle of the picture, so that it has work in each frame. Not thread
/// safe.
class Tracks {
 public:
  static constexpr std::size_t kMost = 4;

  /// `picture`: 8-bit BGR. `detected`: detections that it has not had; null: none. Adds the tracks to `result`.
  void update(const cv::Mat& picture, const Result* detected, Result& result);

 private:
  struct Track {
    cv::Ptr<cv::legacy::TrackerMOSSE> filter;
    cv::Rect2d box;
    std::uint32_t id;
  };
  void begin(const cv::Rect2d& box);

  cv::Mat grey_;
  std::vector<Track> tracks_;
  std::uint32_t last_id_ = 0;
};

}  // namespace cardan::bench::perception
