// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/vision/mosse.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "bench/pipeline/join.hpp"

namespace cardan::bench::perception {
namespace {

constexpr double kLearning = 0.125;              // the paper's rate
constexpr double kSigma = 2;                     // of the Gaussian, in pixels, as in the paper
constexpr int kDistortions = 8;                  // of the first picture, as in the paper
constexpr int kPeakRadius = 5;                   // 11 × 11 around the peak are not the sidelobe
constexpr int kLeastSide = 16, kMostSide = 256;  // of the filter
constexpr float kSameTarget = 0.3F;              // of overlap

cv::Mat forward(const cv::Mat& real) {
  cv::Mat spectrum;
  cv::dft(real, spectrum, cv::DFT_COMPLEX_OUTPUT);
  return spectrum;
}

int side_of(double length) {
  return cv::getOptimalDFTSize(std::clamp(static_cast<int>(std::lround(length)), kLeastSide, kMostSide));
}

cv::Mat times(const cv::Mat& a, const cv::Mat& b, bool conjugate_b) {
  cv::Mat product;
  cv::mulSpectrums(a, b, product, 0, conjugate_b);
  return product;
}

// Of a correlation: how far its peak is above the rest, in deviations of the rest.
double peak_to_sidelobe(const cv::Mat& response, cv::Point peak, double height) {
  cv::Mat rest(response.size(), CV_8U, cv::Scalar(255));
  cv::circle(rest, peak, 0, cv::Scalar(0));
  cv::rectangle(rest, peak - cv::Point(kPeakRadius, kPeakRadius), peak + cv::Point(kPeakRadius, kPeakRadius),
                cv::Scalar(0), cv::FILLED);
  cv::Scalar mean;
  cv::Scalar deviation;
  cv::meanStdDev(response, mean, deviation, rest);
  return (height - mean[0]) / (deviation[0] + 1e-6);
}

}  // namespace

Mosse::Mosse(const cv::Mat& grey, const cv::Rect2d& box)
    : target_(box.size()), size_(side_of(box.width), side_of(box.height)), centre_((box.tl() + box.br()) * 0.5) {
  centre_.x = std::clamp(centre_.x, 0.0, static_cast<double>(grey.cols));
  centre_.y = std::clamp(centre_.y, 0.0, static_cast<double>(grey.rows));
  cv::createHanningWindow(window_, size_, CV_32F);
  cv::Mat goal(size_, CV_32F);
  const cv::Point middle_pixel(size_.width / 2, size_.height / 2);
  for (int y = 0; y < size_.height; ++y)
    for (int x = 0; x < size_.width; ++x) {
      const double dx = x - middle_pixel.x;
      const double dy = y - middle_pixel.y;
      goal.at<float>(y, x) = static_cast<float>(std::exp(-(dx * dx + dy * dy) / (2 * kSigma * kSigma)));
    }
  goal_ = forward(goal);
  const cv::Mat first = patch_at(grey, centre_);
  cv::RNG random(1);  // the same each time
  for (int i = 0; i <= kDistortions; ++i) {
    cv::Mat patch = first;
    if (i > 0) {
      const cv::Point2f middle(static_cast<float>(size_.width) / 2, static_cast<float>(size_.height) / 2);
      const cv::Mat turn = cv::getRotationMatrix2D(middle, random.uniform(-8.0, 8.0), random.uniform(0.95, 1.05));
      cv::warpAffine(first, patch, turn, size_, cv::INTER_LINEAR, cv::BORDER_REFLECT);
    }
    const cv::Mat seen = spectrum_of(patch);
    const cv::Mat numerator = times(goal_, seen, true);
    const cv::Mat denominator = times(seen, seen, true);
    numerator_ = numerator_.empty() ? numerator : cv::Mat(numerator_ + numerator);
    denominator_ = denominator_.empty() ? denominator : cv::Mat(denominator_ + denominator);
  }
  make_filter();
}

cv::Rect2d Mosse::box() const noexcept {
  return {centre_.x - target_.width / 2, centre_.y - target_.height / 2, target_.width, target_.height};
}

cv::Mat Mosse::patch_at(const cv::Mat& grey, cv::Point2d centre) const {
  cv::Mat patch;
  cv::getRectSubPix(grey, size_, cv::Point2f(centre), patch, CV_32F);
  return patch;
}

// The paper's preprocessing: logarithm, mean 0 and deviation 1, and a window against the edges.
cv::Mat Mosse::spectrum_of(const cv::Mat& patch) const {
  cv::Mat prepared;
  cv::log(patch + 1, prepared);
  cv::Scalar mean;
  cv::Scalar deviation;
  cv::meanStdDev(prepared, mean, deviation);
  prepared = (prepared - mean[0]) / (deviation[0] + 1e-5);
  prepared = prepared.mul(window_);
  return forward(prepared);
}

void Mosse::make_filter() {
  filter_.create(numerator_.size(), CV_32FC2);
  for (int y = 0; y < filter_.rows; ++y)
    for (int x = 0; x < filter_.cols; ++x)  // the denominator is real; a small number keeps it from 0
      filter_.at<cv::Vec2f>(y, x) = numerator_.at<cv::Vec2f>(y, x) / (denominator_.at<cv::Vec2f>(y, x)[0] + 1e-3F);
}

double Mosse::update(const cv::Mat& grey) {
  cv::Mat response;
  cv::dft(times(spectrum_of(patch_at(grey, centre_)), filter_, false), response,
          cv::DFT_INVERSE | cv::DFT_SCALE | cv::DFT_REAL_OUTPUT);
  double height = 0;
  cv::Point at;
  cv::minMaxLoc(response, nullptr, &height, nullptr, &at);
  const double peak = peak_to_sidelobe(response, at, height);
  if (peak < kLeastPeak) return peak;  // it learns nothing from what is not the target
  centre_ += cv::Point2d(at - cv::Point(size_.width / 2, size_.height / 2));
  centre_.x = std::clamp(centre_.x, 0.0, static_cast<double>(grey.cols));
  centre_.y = std::clamp(centre_.y, 0.0, static_cast<double>(grey.rows));
  const cv::Mat seen = spectrum_of(patch_at(grey, centre_));
  numerator_ = kLearning * times(goal_, seen, true) + (1 - kLearning) * numerator_;
  denominator_ = kLearning * times(seen, seen, true) + (1 - kLearning) * denominator_;
  make_filter();
  return peak;
}

void Tracks::begin(const cv::Rect2d& box) {
  if (tracks_.size() >= kMost || box.width < 4 || box.height < 4) return;
  tracks_.push_back({Mosse(grey_, box), 0, ++last_id_});
}

void Tracks::update(const cv::Mat& picture, const Result* detected, Result& result) {
  cv::cvtColor(picture, grey_, cv::COLOR_BGR2GRAY);
  for (Track& track : tracks_) track.peak = track.filter.update(grey_);
  std::erase_if(tracks_, [](const Track& t) { return t.peak < Mosse::kLeastPeak; });
  const auto box_of = [](const Track& t) {
    const cv::Rect2d b = t.filter.box();
    return Box{static_cast<float>(b.x),      static_cast<float>(b.y),    static_cast<float>(b.width),
               static_cast<float>(b.height), static_cast<float>(t.peak), t.id};
  };
  for (const Track& track : tracks_) result.add(box_of(track));
  if (detected != nullptr)
    for (const Box& box : detected->found()) {
      const bool known = std::any_of(tracks_.begin(), tracks_.end(),
                                     [&](const Track& t) { return overlap(box_of(t), box) > kSameTarget; });
      if (!known) begin({box.x, box.y, box.width, box.height});
    }
  if (tracks_.empty()) begin({picture.cols * 0.4, picture.rows * 0.28, picture.cols * 0.2, picture.rows * 0.2});
}

}  // namespace cardan::bench::perception
