// SPDX-License-Identifier: Apache-2.0
#include "demo/decision/fusion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "demo/detector/coco.hpp"

namespace cardan::street {
namespace {

constexpr float kPersonHeight = 1.7F;
constexpr float kPersonShareOfWindow = 0.75F;  // the HOG window has a margin around the person
constexpr float kSameBearing = 0.07F;          // rad, four degrees
constexpr float kFarSighted = 1.8F;            // of the stopping distance, for whom both sensors see
constexpr float kSideStep = 1.0F;              // m, as far as such a person may come in while we brake

template <class... Values>
Verdict verdict(bool brake, float distance, fmt::format_string<Values...> format, Values... values) {
  Verdict v;
  v.brake = brake;
  v.distance = distance;
  fmt::format_to_n(v.reason.data(), v.reason.size() - 1, format, std::forward<Values>(values)...);
  return v;
}

}  // namespace

void Fusion::see_picture(std::span<const Seen> seen, float width, std::int64_t now) {
  people_.clear();
  vehicles_.clear();
  picture_time_ = now;
  if (!(width > 0)) return;
  const float focal = width / 2 / std::tan(car_.camera_fov / 2);
  for (const Seen& s : seen) {
    const SeenKind kind = kind_of(s.label);
    if (!(s.height > 0) || kind == SeenKind::Other) continue;
    const float share = s.label == kPedestrian ? kPersonShareOfWindow : 1.0F;
    const Sighting sighting{std::atan2(width / 2 - (s.x + s.width / 2), focal),
                            kPersonHeight * focal / (s.height * share), s.label};
    (kind == SeenKind::Person ? people_ : vehicles_).push_back(sighting);
  }
}

const Fusion::Sighting* Fusion::in_direction_of(const Obstacle& o, std::span<const Sighting> of) const noexcept {
  const float bearing = std::atan2((o.y0 + o.y1) / 2, (o.x0 + o.x1) / 2);
  const auto found = std::find_if(of.begin(), of.end(),
                                  [&](const Sighting& s) { return std::abs(s.bearing - bearing) < kSameBearing; });
  return found == of.end() ? nullptr : &*found;
}

void Fusion::see_obstacles(std::span<const Obstacle> obstacles, std::int64_t now) {
  obstacles_.assign(obstacles.begin(), obstacles.end());
  obstacles_time_ = now;
}

Verdict Fusion::decide(std::int64_t now) const noexcept {
  const auto missing = [&](const char* sensor, std::int64_t last) {
    if (last == 0) return verdict(true, 0, "no data from the {} yet", sensor);
    return verdict(true, 0, "no data from the {} for {:.1f} s", sensor, static_cast<double>(now - last) * 1e-9);
  };
  if (obstacles_time_ == 0 || now - obstacles_time_ > kStale) return missing("LiDAR", obstacles_time_);
  if (picture_time_ == 0 || now - picture_time_ > kStale) return missing("camera", picture_time_);

  const float stop = car_.stopping_distance();
  const auto in_path = [](const Obstacle& o, float half_width) {
    return o.x1 > 0 && o.y0 < half_width && o.y1 > -half_width;
  };
  constexpr float kFar = std::numeric_limits<float>::infinity();
  const Obstacle* nearest = nullptr;
  const Obstacle* confirmed = nullptr;
  for (const Obstacle& o : obstacles_) {
    if (in_path(o, car_.half_width) && (nearest == nullptr || o.ahead() < nearest->ahead())) nearest = &o;
    if (o.kind == Obstacle::Kind::Structure || !in_path(o, car_.half_width + kSideStep)) continue;
    if (in_direction_of(o, people_) != nullptr && (confirmed == nullptr || o.ahead() < confirmed->ahead()))
      confirmed = &o;
  }
  const float clear = nearest != nullptr ? std::max(nearest->ahead(), 0.0F) : kFar;
  if (confirmed != nullptr && confirmed->ahead() < stop * kFarSighted) {
    return verdict(true, confirmed->ahead(), "pedestrian {:.1f} m ahead, seen by camera and LiDAR", confirmed->ahead());
  }
  if (clear < stop) {
    if (const Sighting* vehicle = in_direction_of(*nearest, vehicles_))
      return verdict(true, clear, "{} {:.1f} m ahead in the path, seen by camera and LiDAR", vehicle->label, clear);
    return verdict(true, clear, "{} {:.1f} m ahead in the path (LiDAR)", kind_name(nearest->kind), clear);
  }
  for (const Sighting& s : people_) {
    if (s.distance < stop && std::abs(s.distance * std::sin(s.bearing)) < car_.half_width) {
      return verdict(true, s.distance, "pedestrian about {:.0f} m ahead (camera alone)", s.distance);
    }
  }
  if (clear == kFar) return verdict(false, ObstacleFinder::kAhead, "the path is free");
  return verdict(false, clear, "the path is free for {:.0f} m", clear);
}

}  // namespace cardan::street
