// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core/mat.hpp>
#include <opencv2/objdetect.hpp>
#include <span>
#include <vector>

#include "demo/detector/picture_detector.hpp"
#include "demo/opencv_picture.hpp"

namespace cardan::street {

/// OpenCV's built-in HOG pedestrian detector (trained on people about 96 pixels tall, standing upright) on a picture
/// that is scaled down to kWidth first: the time goes with the number of pixels.
class PeopleDetector final : public PictureDetector {
 public:
  static constexpr int kWidth = 720;

  PeopleDetector();
  [[nodiscard]] std::string name() const override { return "HOG"; }
  /// Takes about 0.1 s.
  std::span<const Seen> detect(const Picture& picture) override { return detect(mat_of(picture)); }
  std::span<const Seen> detect(const cv::Mat& picture);

  /// Overlapping boxes become one, the same in whatever order they are.
  void group(std::vector<cv::Rect>& boxes, std::vector<double>& weights) const;

 private:
  cv::HOGDescriptor hog_;
  cv::Mat small_;
  std::vector<cv::Rect> boxes_;
  std::vector<double> weights_;
  std::vector<Seen> people_;
};

}  // namespace cardan::street
