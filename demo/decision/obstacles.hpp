// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "demo/sensors/point.hpp"

namespace cardan::street {

/// A cluster of returns on the ground: an upright box in the sensor's frame (m), with what its size
/// suggests.
struct Obstacle {
  enum class Kind : std::uint8_t { Pedestrian, Vehicle, Structure, Object };
  float x0, x1, y0, y1, z0, z1;
  std::uint32_t points;
  Kind kind;

  /// Distance ahead of its nearest face (m); below 0 when it reaches behind the sensor.
  [[nodiscard]] float ahead() const noexcept { return x0; }
};

[[nodiscard]] const char* kind_name(Obstacle::Kind kind) noexcept;

/// The vehicle that carries the LiDAR: how far it reaches from the sensor (m). Returns from within it are not
/// obstacles. Default: a passenger car with the sensor on its roof.
struct OwnVehicle {
  float front = 2.0F, rear = 3.5F, side = 1.1F;

  /// Whether a return from there is one from the vehicle, at whatever height.
  [[nodiscard]] constexpr bool has(float x, float y) const noexcept {
    return x > -rear && x < front && y > -side && y < side;
  }
};

/// Removes the own vehicle and the ground from a point cloud and clusters the rest on a grid.
///
/// Ground: the lowest return of each cell of a polar grid; walking outwards, a cell belongs to the ground while it
/// rises no faster than a ramp may. Clusters: cells of 0.3 m that hold returns between 0.3 and 3 m above the ground,
/// joined with their eight neighbours; a cluster longer than 6.5 m (a house front, a hedge) comes as tiles of 3 m,
/// because one upright box around a bend would cover the road next to it. One pass over the points for each, no
/// nearest-neighbour search, no PCL.
class ObstacleFinder {
 public:
  static constexpr float kAhead = 60, kBehind = -20, kAside = 15;  ///< m, the region that is looked at
  static constexpr std::size_t kMaxObstacles = 128;

  explicit ObstacleFinder(const OwnVehicle& own = {});

  /// The obstacles, nearest first, at most kMaxObstacles. NaN points are skipped. The span is valid until the next
  /// call. Not thread-safe; allocates nothing once the largest cloud has been seen.
  std::span<const Obstacle> find(std::span<const Point> cloud);

 private:
  static constexpr float kCell = 0.3F;
  static constexpr std::size_t kCellsX = static_cast<std::size_t>((kAhead - kBehind) / kCell) + 1;
  static constexpr std::size_t kCellsY = static_cast<std::size_t>(2 * kAside / kCell) + 1;
  static constexpr std::size_t kSectors = 180, kRings = 64;
  static constexpr float kRing = 1.0F;  // m

  struct Cell {
    float x0, x1, y0, y1, z0, z1;
    std::uint32_t points;
    bool seen;
  };
  void estimate_ground(std::span<const Point> cloud);
  void cluster();
  void emit();
  [[nodiscard]] Obstacle box(std::span<const std::uint32_t> cells) const;
  [[nodiscard]] static std::size_t polar(const Point& p) noexcept;

  OwnVehicle own_;
  std::vector<float> lowest_;  // of each polar cell, later its ground
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> used_;      // cells with returns
  std::vector<std::uint32_t> members_;   // cells of the cluster at hand
  std::vector<std::uint32_t> polar_of_;  // of each point: two passes need it, and it costs an atan2
  std::vector<float> scratch_;
  std::vector<Obstacle> obstacles_;
};

}  // namespace cardan::street
