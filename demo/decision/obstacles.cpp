// SPDX-License-Identifier: Apache-2.0
#include "demo/decision/obstacles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace cardan::street {
namespace {

constexpr float kNone = std::numeric_limits<float>::infinity();
constexpr std::uint32_t kOutside = std::numeric_limits<std::uint32_t>::max();
constexpr float kLowestObstacle = 0.3F;   // m above the ground; lower is kerb, ramp or noise
constexpr float kHighestObstacle = 3.0F;  // the car fits under what is higher
constexpr float kRamp = 0.15F;            // m of rise per m that still counts as ground
constexpr std::uint32_t kFewestPoints = 5;
constexpr float kLongest = 6.5F;   // m, of a thing that one box describes well
constexpr std::size_t kTile = 10;  // cells

Obstacle::Kind kind_of(const Obstacle& o) {
  const float length = std::max(o.x1 - o.x0, o.y1 - o.y0);
  const float width = std::min(o.x1 - o.x0, o.y1 - o.y0);
  const float height = o.z1 - o.z0;
  // The lowest 0.3 m went with the ground, so a grown person shows 1 to 1.8 m.
  if (length < 1.0F && height > 0.7F && height < 1.9F) return Obstacle::Kind::Pedestrian;
  if (length > kLongest || height > 2.2F) return Obstacle::Kind::Structure;
  if (length > 1.4F && width < 2.8F && height > 0.4F) return Obstacle::Kind::Vehicle;
  return Obstacle::Kind::Object;
}

}  // namespace

const char* kind_name(Obstacle::Kind kind) noexcept {
  switch (kind) {
    case Obstacle::Kind::Pedestrian:
      return "pedestrian";
    case Obstacle::Kind::Vehicle:
      return "vehicle";
    case Obstacle::Kind::Structure:
      return "structure";
    case Obstacle::Kind::Object:
      break;
  }
  return "object";
}

ObstacleFinder::ObstacleFinder(const OwnVehicle& own)
    : own_(own),
      lowest_(kSectors * kRings),
      cells_(kCellsX * kCellsY, Cell{kNone, -kNone, kNone, -kNone, kNone, -kNone, 0, false}) {
  used_.reserve(cells_.size());
  members_.reserve(cells_.size());
  obstacles_.reserve(1024);
}

std::size_t ObstacleFinder::polar(const Point& p) noexcept {
  const auto ring = static_cast<std::size_t>(std::hypot(p.x, p.y) / kRing);
  const float turn = (std::atan2(p.y, p.x) + std::numbers::pi_v<float>) / (2 * std::numbers::pi_v<float>);
  const auto sector = std::min(static_cast<std::size_t>(turn * static_cast<float>(kSectors)), kSectors - 1);
  return ring < kRings ? sector * kRings + ring : kOutside;
}

void ObstacleFinder::estimate_ground(std::span<const Point> cloud) {
  std::fill(lowest_.begin(), lowest_.end(), kNone);
  polar_of_.resize(cloud.size());
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    const Point& p = cloud[i];
    polar_of_[i] = kOutside;
    // Also false for NaN.
    if (!(p.x > kBehind && p.x < kAhead && std::abs(p.y) < kAside && std::abs(p.z) < 30)) continue;
    if (own_.has(p.x, p.y)) continue;  // a bonnet is not ground either
    const std::size_t cell = polar(p);
    if (cell >= lowest_.size()) continue;
    polar_of_[i] = static_cast<std::uint32_t>(cell);
    lowest_[cell] = std::min(lowest_[cell], p.z);
  }
  // Where the walk starts: the median of the lowest returns within 12 m, since most of what is near is road.
  std::vector<float>& near = scratch_;
  near.clear();
  for (std::size_t sector = 0; sector < kSectors; ++sector) {
    for (std::size_t ring = 1; ring < 12; ++ring) {
      const float z = lowest_[sector * kRings + ring];
      if (z < kNone) near.push_back(z);
    }
  }
  float start = 0;
  if (!near.empty()) {
    const auto middle = near.begin() + static_cast<std::ptrdiff_t>(near.size() / 3);
    std::nth_element(near.begin(), middle, near.end());
    start = *middle;
  }
  for (std::size_t sector = 0; sector < kSectors; ++sector) {
    float ground = start;
    float at = 0;
    for (std::size_t ring = 0; ring < kRings; ++ring) {
      float& cell = lowest_[sector * kRings + ring];
      const float distance = (static_cast<float>(ring) + 0.5F) * kRing;
      if (cell < kNone && std::abs(cell - ground) <= kRamp * (distance - at) + 0.1F) {
        ground = cell;
        at = distance;
      }
      cell = ground;
    }
  }
}

Obstacle ObstacleFinder::box(std::span<const std::uint32_t> cells) const {
  Obstacle o{kNone, -kNone, kNone, -kNone, kNone, -kNone, 0, Obstacle::Kind::Object};
  for (const std::uint32_t index : cells) {
    const Cell& c = cells_[index];
    o = {std::min(o.x0, c.x0), std::max(o.x1, c.x1), std::min(o.y0, c.y0), std::max(o.y1, c.y1),
         std::min(o.z0, c.z0), std::max(o.z1, c.z1), o.points + c.points,  o.kind};
  }
  return o;
}

void ObstacleFinder::emit() {
  const auto keep = [this](Obstacle o, bool tile) {
    if (o.points < kFewestPoints || o.z1 - o.z0 < 0.2F) return;
    o.kind = tile ? Obstacle::Kind::Structure : kind_of(o);
    obstacles_.push_back(o);
  };
  const Obstacle whole = box(members_);
  if (std::max(whole.x1 - whole.x0, whole.y1 - whole.y0) <= kLongest) return keep(whole, false);
  const auto tile = [](std::uint32_t index) { return (index / kCellsX / kTile) * kCellsX + index % kCellsX / kTile; };
  std::sort(members_.begin(), members_.end(), [&](auto a, auto b) { return tile(a) < tile(b); });
  for (std::size_t first = 0, next = 0; first < members_.size(); first = next) {
    while (next < members_.size() && tile(members_[next]) == tile(members_[first])) ++next;
    keep(box(std::span(members_).subspan(first, next - first)), true);
  }
}

void ObstacleFinder::cluster() {
  const auto add_neighbours = [this](std::size_t cx, std::size_t cy) {
    for (std::size_t y = cy > 0 ? cy - 1 : 0; y <= std::min(cy + 1, kCellsY - 1); ++y) {
      for (std::size_t x = cx > 0 ? cx - 1 : 0; x <= std::min(cx + 1, kCellsX - 1); ++x) {
        Cell& neighbour = cells_[y * kCellsX + x];
        if (neighbour.points == 0 || neighbour.seen) continue;
        neighbour.seen = true;
        members_.push_back(static_cast<std::uint32_t>(y * kCellsX + x));
      }
    }
  };
  for (const std::uint32_t first : used_) {
    if (cells_[first].seen) continue;
    members_.assign(1, first);
    cells_[first].seen = true;
    for (std::size_t next = 0; next < members_.size(); ++next)
      add_neighbours(members_[next] % kCellsX, members_[next] / kCellsX);
    emit();
  }
}

std::span<const Obstacle> ObstacleFinder::find(std::span<const Point> cloud) {
  for (const std::uint32_t index : used_) cells_[index] = Cell{kNone, -kNone, kNone, -kNone, kNone, -kNone, 0, false};
  used_.clear();
  obstacles_.clear();
  estimate_ground(cloud);
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    if (polar_of_[i] == kOutside) continue;
    const Point& p = cloud[i];
    const float height = p.z - lowest_[polar_of_[i]];
    if (height < kLowestObstacle || height > kHighestObstacle) continue;
    const auto cx = static_cast<std::size_t>((p.x - kBehind) / kCell);
    const auto cy = static_cast<std::size_t>((p.y + kAside) / kCell);
    const std::size_t index = std::min(cy, kCellsY - 1) * kCellsX + std::min(cx, kCellsX - 1);
    Cell& c = cells_[index];
    if (c.points == 0) used_.push_back(static_cast<std::uint32_t>(index));
    c = {std::min(c.x0, p.x), std::max(c.x1, p.x), std::min(c.y0, p.y), std::max(c.y1, p.y),
         std::min(c.z0, p.z), std::max(c.z1, p.z), c.points + 1,        false};
  }
  cluster();
  const auto range = [](const Obstacle& o) {
    const float x = std::max({o.x0, -o.x1, 0.0F});
    const float y = std::max({o.y0, -o.y1, 0.0F});
    return x * x + y * y;
  };
  std::sort(obstacles_.begin(), obstacles_.end(),
            [&](const Obstacle& a, const Obstacle& b) { return range(a) < range(b); });
  return {obstacles_.data(), std::min(obstacles_.size(), kMaxObstacles)};
}

}  // namespace cardan::street
