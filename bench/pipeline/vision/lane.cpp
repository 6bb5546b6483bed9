// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/vision/lane.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

namespace cardan::bench::perception {
namespace {

constexpr double kLeastLength = 1.0 / 8;  // of a contour, of the road's height
constexpr double kLeastAspect = 3;        // length over width
constexpr double kFlattest = 3;           // pixels sideways for one downwards: flatter is the kerb of a crossing road
constexpr int kRowStep = 2;
constexpr std::size_t kFewestPoints = 12;

/// A contour that can be a marking of a lane: long, narrow, and leading away from the vehicle.
bool can_be_marking(const std::vector<cv::Point>& contour, int height) {
  if (contour.size() < 5) return false;
  const cv::RotatedRect box = cv::minAreaRect(contour);
  const double length = std::max(box.size.width, box.size.height);
  const double width = std::max(1.F, std::min(box.size.width, box.size.height));
  if (length < kLeastLength * height || length < kLeastAspect * width) return false;
  std::array<cv::Point2f, 4> corners;
  box.points(corners.data());
  const cv::Point2f a = corners[1] - corners[0];
  const cv::Point2f b = corners[2] - corners[1];
  const cv::Point2f along = a.dot(a) > b.dot(b) ? a : b;
  return std::abs(along.x) <= kFlattest * std::abs(along.y);
}

}  // namespace

std::array<LaneLine, 2> LaneFinder::find(const cv::Mat& picture) {
  const int top = picture.rows / 2;
  const cv::Mat road = picture.rowRange(top, picture.rows);
  cv::cvtColor(road, grey_, cv::COLOR_BGR2GRAY);
  cv::GaussianBlur(grey_, grey_, {5, 5}, 0);
  cv::Canny(grey_, edges_, 50, 150);
  cv::findContours(edges_, contours_, cv::RETR_EXTERNAL, cv::CHAIN_APPROX_SIMPLE);
  keep_long_contours();
  scan();
  std::array<LaneLine, 2> lines{};
  for (std::size_t side = 0; side < lines.size(); ++side) {
    if (sides_[side].size() < kFewestPoints) continue;
    cv::Vec4f fit;  // direction, and a point
    cv::fitLine(sides_[side], fit, cv::DIST_HUBER, 0, 0.01, 0.01);
    if (std::abs(fit[1]) < 1e-3F) continue;
    const float slope = fit[0] / fit[1];
    // Seen from the vehicle, a lane's lines run together upwards.
    if ((side == 0) != (slope < 0)) continue;
    const auto x_at = [&](int row) { return fit[2] + slope * (static_cast<float>(row) - fit[3]); };
    lines[side] = {x_at(0), static_cast<float>(top), x_at(road.rows - 1), static_cast<float>(picture.rows - 1)};
  }
  return lines;
}

void LaneFinder::keep_long_contours() {
  std::erase_if(contours_, [&](const auto& contour) { return !can_be_marking(contour, edges_.rows); });
  mask_.create(edges_.size(), CV_8U);
  mask_.setTo(0);
  cv::drawContours(mask_, contours_, -1, cv::Scalar(255), cv::FILLED);
}

// In each row the first pixel of a marking to the left and to the right of the middle.
void LaneFinder::scan() {
  for (auto& side : sides_) side.clear();
  const int middle = mask_.cols / 2;
  for (int row = 0; row < mask_.rows; row += kRowStep) {
    const auto* const pixels = mask_.ptr<std::uint8_t>(row);
    for (int x = middle - 1; x >= 0; --x)
      if (pixels[x] != 0) {
        sides_[0].emplace_back(static_cast<float>(x), static_cast<float>(row));
        break;
      }
    for (int x = middle; x < mask_.cols; ++x)
      if (pixels[x] != 0) {
        sides_[1].emplace_back(static_cast<float>(x), static_cast<float>(row));
        break;
      }
  }
}

}  // namespace cardan::bench::perception
