// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/raycast.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace cardan::street {
namespace {

constexpr float kGround = -SimulatedStreet::kSensorHeight;
constexpr float kTopDegrees = 5.0F;
constexpr float kBottomDegrees = -25.0F;

// A centimetre of range noise that is the same in every run: a hash of ring, column and scan.
float noise(std::uint32_t ring, std::uint32_t column, std::uint32_t scan) {
  std::uint32_t h = ring * 0x9E3779B1U ^ column * 0x85EBCA77U ^ scan * 0xC2B2AE3DU;
  h ^= h >> 15;
  h *= 0x2C1B3C6DU;
  h ^= h >> 12;
  return (static_cast<float>(h & 0xFFFFU) / 65535.0F - 0.5F) * 0.02F;
}

}  // namespace

SimulatedStreet::SimulatedStreet() {
  for (std::size_t ring = 0; ring < kRings; ++ring) {
    const float share = static_cast<float>(ring) / static_cast<float>(kRings - 1);
    const float elevation = (kTopDegrees + (kBottomDegrees - kTopDegrees) * share) * std::numbers::pi_v<float> / 180.0F;
    tangent_.push_back(std::tan(elevation));
    cosine_.push_back(std::cos(elevation));
  }
  for (std::size_t column = 0; column < kColumns; ++column) {
    const float azimuth = 2.0F * std::numbers::pi_v<float> * static_cast<float>(column) / static_cast<float>(kColumns);
    column_x_.push_back(std::cos(azimuth));
    column_y_.push_back(std::sin(azimuth));
  }
  solids_.reserve(128);
  crossings_.reserve(128);
}

SimulatedStreet::Position SimulatedStreet::pedestrian(double seconds) noexcept {
  // Steps out 30 m ahead at the right kerb and walks to the left one while the car comes nearer.
  const double t = std::fmod(std::max(seconds, 0.0), kCrossingPeriod);
  return {static_cast<float>(30.0 - kSpeed * t * 0.8), static_cast<float>(-6.0 + 1.6 * t)};
}

void SimulatedStreet::place(double seconds) {
  solids_.clear();
  const double driven = kSpeed * std::max(seconds, 0.0);
  // Everything repeats along the street: the first place behind the car is found by the remainder.
  const auto along = [&](double period, double offset, auto&& put) {
    double x = offset - std::fmod(driven, period);
    while (x > -60) x -= period;
    for (; x < 100; x += period) put(static_cast<float>(x));
  };
  along(20, 0, [&](float x) {  // houses, with gaps
    solids_.push_back({x, x + 17, 9, 15, kGround, 7, 0, 0.35F});
    solids_.push_back({x + 6, x + 23, -15, -9, kGround, 9, 0, 0.35F});
  });
  along(11, 0, [&](float x) {  // parked cars
    solids_.push_back({x, x + 4.4F, 3.6F, 5.4F, kGround + 0.2F, kGround + 1.5F, 0, 0.8F});
  });
  along(14, 5,
        [&](float x) { solids_.push_back({x, x + 4.4F, -5.4F, -3.6F, kGround + 0.2F, kGround + 1.5F, 0, 0.8F}); });
  along(25, 9, [&](float x) {  // lamp posts
    solids_.push_back({x, 0, 7, 0, kGround, kGround + 6, 0.1F, 0.5F});
    solids_.push_back({x, 0, -7, 0, kGround, kGround + 6, 0.1F, 0.5F});
  });
  const Position walker = pedestrian(seconds);
  solids_.push_back({walker.x, 0, walker.y, 0, kGround, kGround + 1.75F, 0.28F, 0.6F});
}

void SimulatedStreet::cross(float dx, float dy) {
  crossings_.clear();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Solid& s : solids_) {
    float near = 0;
    float far = kInfinity;
    if (s.radius > 0) {
      const float middle = s.x0 * dx + s.y0 * dy;
      const float aside = s.x0 * dy - s.y0 * dx;
      const float half = s.radius * s.radius - aside * aside;
      if (half <= 0 || middle <= s.radius) continue;
      near = middle - std::sqrt(half);
      far = middle + std::sqrt(half);
    } else {
      const auto slab = [&](float direction, float low, float high) {
        if (std::abs(direction) < 1e-9F) return low <= 0 && high >= 0;
        float a = low / direction;
        float b = high / direction;
        if (a > b) std::swap(a, b);
        near = std::max(near, a);
        far = std::min(far, b);
        return true;
      };
      if (!slab(dx, s.x0, s.x1) || !slab(dy, s.y0, s.y1) || near > far || far <= 0) continue;
    }
    if (near < kMaxRange) crossings_.push_back({near, far, s.z0, s.z1, s.reflectivity});
  }
  std::sort(crossings_.begin(), crossings_.end(), [](const Crossing& a, const Crossing& b) { return a.near < b.near; });
}

SimulatedStreet::Hit SimulatedStreet::hit_of(float slope) const {
  // The ray meets the road here (never, when it points up).
  Hit hit{slope < 0 ? kGround / slope : std::numeric_limits<float>::infinity(), 0.2F};
  for (const Crossing& c : crossings_) {
    if (c.near >= hit.distance) break;
    const float z = c.near * slope;
    if (z >= c.z0 && z <= c.z1) return {c.near, c.reflectivity};
    if (z <= c.z1 || slope >= 0) continue;
    const float top = c.z1 / slope;  // over the near edge and down onto the top
    if (top <= c.far && top < hit.distance) hit = {top, c.reflectivity};
  }
  return hit;
}

void SimulatedStreet::scan(double seconds, std::span<Point> out) {
  if (out.size() != kPoints) throw std::invalid_argument("SimulatedStreet::scan: out must have kPoints elements");
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  place(seconds);
  const auto number = static_cast<std::uint32_t>(std::llround(std::max(seconds, 0.0) * kRateHz));
  for (std::size_t column = 0; column < kColumns; ++column) {
    const float dx = column_x_[column];
    const float dy = column_y_[column];
    cross(dx, dy);
    for (std::size_t ring = 0; ring < kRings; ++ring) {
      const Hit hit = hit_of(tangent_[ring]);
      Point& p = out[ring * kColumns + column];
      p = Point{};
      float range = hit.distance / cosine_[ring];
      if (range > kMaxRange) {
        p.x = p.y = p.z = kNan;
        continue;
      }
      range += noise(static_cast<std::uint32_t>(ring), static_cast<std::uint32_t>(column), number);
      const float ground = range * cosine_[ring];
      p.x = ground * dx;
      p.y = ground * dy;
      p.z = ground * tangent_[ring];
      p.intensity = 255.0F * hit.reflectivity;
    }
  }
}

}  // namespace cardan::street
