// SPDX-License-Identifier: Apache-2.0
#include "examples/street/people_detector.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <tuple>

namespace cardan::street {

PeopleDetector::PeopleDetector() { hog_.setSVMDetector(cv::HOGDescriptor::getDefaultPeopleDetector()); }

void PeopleDetector::sort_boxes() {
  found_.clear();
  for (std::size_t i = 0; i < boxes_.size(); ++i) found_.emplace_back(boxes_[i], weights_[i]);
  std::sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) {
    const auto key = [](const auto& f) {
      return std::tuple(f.first.x, f.first.y, f.first.width, f.first.height, f.second);
    };
    return key(a) < key(b);
  });
  for (std::size_t i = 0; i < boxes_.size(); ++i) std::tie(boxes_[i], weights_[i]) = found_[i];
}

std::span<const Person> PeopleDetector::detect(const cv::Mat& picture) {
  people_.clear();
  if (picture.empty()) return {};
  const double scale = std::min(1.0, static_cast<double>(kWidth) / picture.cols);
  if (scale < 1.0) {
    cv::resize(picture, small_, {}, scale, scale, cv::INTER_AREA);
  } else {
    small_ = picture;  // a view
  }
  // The window must fit: the smallest thing that can be found is 64 x 128.
  if (small_.cols < hog_.winSize.width || small_.rows < hog_.winSize.height) return {};
  // OpenCV's threads find in any order, and how it groups what overlaps depends on that: sorted, the same picture gives
  // the same people each time.
  hog_.detectMultiScale(small_, boxes_, weights_, 0.0, cv::Size(8, 8), cv::Size(), 1.1, 0.0);
  sort_boxes();
  hog_.groupRectangles(boxes_, weights_, 2, 0.2);
  for (std::size_t i = 0; i < boxes_.size(); ++i) {
    const auto back = static_cast<float>(1.0 / scale);
    const cv::Rect& b = boxes_[i];
    people_.push_back({static_cast<float>(b.x) * back, static_cast<float>(b.y) * back,
                       static_cast<float>(b.width) * back, static_cast<float>(b.height) * back,
                       static_cast<float>(1.0 / (1.0 + std::exp(-weights_[i])))});
  }
  small_.release();  // a view of shared memory must not outlive the frame
  return people_;
}

}  // namespace cardan::street
