// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/vision/tracks.hpp"

#include <algorithm>
#include <opencv2/imgproc.hpp>

#include "bench/pipeline/join.hpp"

namespace cardan::bench::perception {

void Tracks::begin(const cv::Rect2d& box) {
  // A detection may reach beyond the picture.
  const cv::Rect2d inside = box & cv::Rect2d(0, 0, grey_.cols, grey_.rows);
  if (tracks_.size() >= kMost || inside.width < 4 || inside.height < 4) return;
  auto filter = cv::legacy::TrackerMOSSE::create();
  if (filter->init(grey_, inside)) tracks_.push_back({filter, inside, ++last_id_});
}

void Tracks::update(const cv::Mat& picture, const Result* detected, Result& result) {
  constexpr float kSameTarget = 0.3F;  // of overlap
  cv::cvtColor(picture, grey_, cv::COLOR_BGR2GRAY);
  std::erase_if(tracks_, [&](Track& track) { return !track.filter->update(grey_, track.box); });  // those that it lost
  const auto box_of = [](const Track& t) {
    return Box{.x = static_cast<float>(t.box.x),
               .y = static_cast<float>(t.box.y),
               .width = static_cast<float>(t.box.width),
               .height = static_cast<float>(t.box.height),
               .score = 1,
               .id = t.id};
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
