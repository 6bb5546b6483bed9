// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/join.hpp"

#include <algorithm>

namespace cardan::bench::perception {
namespace {

constexpr std::uint32_t kAll = (1U << kFinders.size()) - 1;
constexpr float kSameThing = 0.3F;  // of overlap

float x_at(const LaneLine& line, float y) noexcept {
  return line.x0 + (line.x1 - line.x0) * (y - line.y0) / (line.y1 - line.y0);
}

}  // namespace

const Results* FrameJoin::add(const Result& result) noexcept {
  Waiting& place = window_[result.number % kWindow];
  if (place.number > result.number) {
    ++unusable_;
    return nullptr;
  }
  if (place.number < result.number) {
    if (place.here != 0 && place.here != kAll) ++given_up_;
    place.number = result.number;
    place.here = 0;
  }
  const std::uint32_t finder = place_of(result.stage);
  if ((place.here & (1U << finder)) != 0) {
    ++unusable_;
    return nullptr;
  }
  place.here |= 1U << finder;
  place.results[finder] = result;
  if (place.here != kAll) return nullptr;
  ++completed_;
  return &place.results;
}

float overlap(const Box& a, const Box& b) noexcept {
  const float width = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
  const float height = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
  if (!(width > 0) || !(height > 0)) return 0;
  const float common = width * height;
  return common / (a.width * a.height + b.width * b.height - common);
}

Fused fuse(const Results& results) noexcept {
  const Result& lane = results[place_of(Stage::Lane)];
  const Result& detected = results[place_of(Stage::Detector)];
  const Result& tracked = results[place_of(Stage::Tracker)];
  Fused fused{.has_lanes = lane.lanes[0].found() && lane.lanes[1].found(), .seen = detected.count};
  const auto stands_in_lane = [&](const Box& box) {
    if (!fused.has_lanes) return false;
    const float x = box.x + box.width / 2;
    const float y = box.y + box.height;
    return x_at(lane.lanes[0], y) < x && x < x_at(lane.lanes[1], y);
  };
  for (const Box& box : detected.found()) fused.in_lane += stands_in_lane(box) ? 1U : 0U;
  for (const Box& track : tracked.found()) {
    const auto found = detected.found();
    const bool confirmed =
        std::any_of(found.begin(), found.end(), [&](const Box& box) { return overlap(track, box) > kSameThing; });
    if (confirmed)
      ++fused.followed;
    else
      fused.in_lane += stands_in_lane(track) ? 1U : 0U;
  }
  return fused;
}

}  // namespace cardan::bench::perception
