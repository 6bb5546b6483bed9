// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/lidar/planner.hpp"

#include <algorithm>
#include <cmath>

namespace cardan::bench::perception::lidar {
namespace {

constexpr int kCandidates = 13;        // −3 m to 3 m
constexpr double kApart = 0.5;         // m
constexpr float kFront = 2.5F;         // m, where a path begins
constexpr float kStep = 1.0F;          // m between its points
constexpr float kAside = 20.0F;        // m, until the vehicle is off its way
constexpr float kHalfWidth = 1.1F;     // m, of the vehicle
constexpr float kOverhead = 0.5F;      // m above the sensor; the vehicle fits below what is higher
constexpr double kMargin = 1.0;        // m that are free at the end
constexpr double kDeceleration = 6.0;  // m/s², dry road
constexpr double kAsideCost = 2.0;     // m of free path that a metre aside is worth

PathPoint point_of(double offset, std::size_t i) noexcept {
  const float x = kFront + kStep * static_cast<float>(i);
  const float part = std::clamp(x / kAside, 0.0F, 1.0F);
  return {x, static_cast<float>(offset) * part * part * (3 - 2 * part)};
}

bool is_hit(const PathPoint& p, const ObstacleBox& box) noexcept {
  return box.z0 < kOverhead && p.x + kStep > box.x0 && p.x < box.x1 && p.y + kHalfWidth > box.y0 &&
         p.y - kHalfWidth < box.y1;
}

}  // namespace

Plan plan(const Obstacles& obstacles) noexcept {
  Plan best{.number = obstacles.number, .speed = obstacles.pose.speed};
  double best_cost = 0;
  for (int candidate = 0; candidate < kCandidates; ++candidate) {
    const int side = candidate - kCandidates / 2;
    const double offset = kApart * side;
    Plan one{.number = obstacles.number, .speed = obstacles.pose.speed, .offset = offset, .has = 1};
    bool is_free = true;
    for (std::size_t i = 0; i < Plan::kPoints; ++i) {
      one.path[i] = point_of(offset, i);
      is_free = is_free && std::none_of(obstacles.found().begin(), obstacles.found().end(),
                                        [&](const ObstacleBox& box) { return is_hit(one.path[i], box); });
      if (is_free) one.free_path += kStep;
    }
    const double cost = kAsideCost * std::abs(offset) - one.free_path;
    if (best.has == 0 || cost < best_cost) {
      best = one;
      best_cost = cost;
    }
  }
  return best;
}

Decision decide(const Plan& plan) noexcept {
  const double stops_after = plan.speed * plan.speed / (2 * kDeceleration) + kMargin;
  return {.brake = plan.has == 0 || plan.free_path < stops_after, .stops_after = stops_after};
}

}  // namespace cardan::bench::perception::lidar
