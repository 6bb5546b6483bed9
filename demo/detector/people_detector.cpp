// SPDX-License-Identifier: Apache-2.0
#include "demo/detector/people_detector.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <tuple>

namespace cardan::street {

PeopleDetector::PeopleDetector() { hog_.setSVMDetector(cv::HOGDescriptor::getDefaultPeopleDetector()); }

void PeopleDetector::group(std::vector<cv::Rect>& boxes, std::vector<double>& weights) const {
  std::vector<std::tuple<int, int, int, int, double>> found;
  for (std::size_t i = 0; i < boxes.size(); ++i)
    found.emplace_back(boxes[i].x, boxes[i].y, boxes[i].width, boxes[i].height, weights[i]);
  std::sort(found.begin(), found.end());
  for (std::size_t i = 0; i < boxes.size(); ++i)
    std::tie(boxes[i].x, boxes[i].y, boxes[i].width, boxes[i].height, weights[i]) = found[i];
  hog_.groupRectangles(boxes, weights, 2, 0.2);
}

std::span<const Seen> PeopleDetector::detect(const cv::Mat& picture) {
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
  // OpenCV's threads find in any order, and how it groups what overlaps depends on that. Grouped by ourselves, the same
  // picture gives the same people each time.
  hog_.detectMultiScale(small_, boxes_, weights_, 0.0, cv::Size(8, 8), cv::Size(), 1.1, 0.0);
  group(boxes_, weights_);
  for (std::size_t i = 0; i < boxes_.size(); ++i) {
    const auto back = static_cast<float>(1.0 / scale);
    const cv::Rect& b = boxes_[i];
    people_.push_back({static_cast<float>(b.x) * back, static_cast<float>(b.y) * back,
                       static_cast<float>(b.width) * back, static_cast<float>(b.height) * back,
                       static_cast<float>(1.0 / (1.0 + std::exp(-weights_[i]))), kPedestrian});
  }
  small_.release();  // a view of shared memory must not outlive the frame
  return people_;
}

}  // namespace cardan::street
