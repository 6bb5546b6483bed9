// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <opencv2/core.hpp>
#include <vector>

#include "bench/pipeline/messages.hpp"

namespace cardan::bench::perception {

/// The correlation filter of Bolme, Beveridge, Draper and Lui, "Visual Object Tracking using Adaptive Correlation
/// Filters" (2010), which ComP uses: the filter that gives a Gaussian at the target with the least sum of squared
/// error over the pictures so far, learnt again in each of them. OpenCV's main modules have none, so this is our own,
/// from the paper. Not thread safe.
class Mosse {
 public:
  /// Below that the target is occluded or lost, as in the paper (there 7).
  static constexpr double kLeastPeak = 7;

  /// Learns the target from one 8-bit grey picture and eight small distortions of it. `box` may reach beyond the
  /// picture.
  Mosse(const cv::Mat& grey, const cv::Rect2d& box);

  /// Looks for the target near its last place, in the next picture, and learns from it if it is found. Returns the
  /// peak-to-sidelobe ratio of the correlation.
  double update(const cv::Mat& grey);
  [[nodiscard]] cv::Rect2d box() const noexcept;

 private:
  [[nodiscard]] cv::Mat spectrum_of(const cv::Mat& patch) const;
  [[nodiscard]] cv::Mat patch_at(const cv::Mat& grey, cv::Point2d centre) const;
  void make_filter();

  cv::Size2d target_;  ///< its size
  cv::Size size_;      ///< of the filter
  cv::Point2d centre_;
  cv::Mat window_, goal_;                     ///< a Hann window; the Gaussian's spectrum
  cv::Mat numerator_, denominator_, filter_;  ///< spectra of two channels
};

/// The tracker: follows what the detector has found, each by a filter. While it has no target it
/// follows what is in the middle of the picture, so that it has work in each frame. Not thread safe.
class Tracks {
 public:
  static constexpr std::size_t kMost = 4;

  /// `picture`: 8-bit BGR. `detected`: detections that it has not had; null: none. Adds the tracks to `result`.
  void update(const cv::Mat& picture, const Result* detected, Result& result);

 private:
  struct Track {
    Mosse filter;
    double peak;
    std::uint32_t id;
  };
  void begin(const cv::Rect2d& box);

  cv::Mat grey_;
  std::vector<Track> tracks_;
  std::uint32_t last_id_ = 0;
};

}  // namespace cardan::bench::perception
