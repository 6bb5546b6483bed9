// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "demo/sensors/point.hpp"

namespace cardan::street {

/// A simulated LiDAR on the roof of a car that drives down a simulated street: houses, parked cars, lamp posts, and a
/// pedestrian that crosses every few seconds. The demo uses it without a recording. Everything that shows its data
/// says "simulated". The same time always gives the same scan.
class SimulatedStreet {
 public:
  static constexpr std::size_t kRings = 64;
  static constexpr std::size_t kColumns = 1800;
  static constexpr std::size_t kPoints = kRings * kColumns;
  static constexpr double kRateHz = 10;
  static constexpr float kSensorHeight = 1.8F;    ///< m above the road
  static constexpr float kMaxRange = 100.0F;      ///< m
  static constexpr double kSpeed = 5.0;           ///< m/s, of the car
  static constexpr double kCrossingPeriod = 8.0;  ///< s, from one pedestrian to the next

  SimulatedStreet();

  /// Casts every ray at `seconds` of the scene (a snapshot: the rotation of a real sensor during the scan is left out).
  /// Fills `out`, which must have kPoints elements, ring by ring from the top. Not thread-safe; allocates nothing after
  /// the first call.
  void scan(double seconds, std::span<Point> out);

  /// Where the pedestrian is at that time, in the sensor's frame (centre, on the ground), for tests.
  struct Position {
    float x, y;
  };
  [[nodiscard]] static Position pedestrian(double seconds) noexcept;

 private:
  struct Solid {  // a box, or an upright cylinder when radius > 0
    float x0, x1, y0, y1, z0, z1;
    float radius;
    float reflectivity;
  };
  struct Crossing {  // where one column's vertical plane cuts a solid, as distances along the ground
    float near, far, z0, z1, reflectivity;
  };
  struct Hit {  // of a ray, as distance along the ground
    float distance, reflectivity;
  };
  void place(double seconds);
  void cross(float dx, float dy);
  [[nodiscard]] Hit hit_of(float slope) const;

  std::vector<float> tangent_, cosine_;     // of each ring's elevation
  std::vector<float> column_x_, column_y_;  // direction of each column
  std::vector<Solid> solids_;
  std::vector<Crossing> crossings_;
};

}  // namespace cardan::street
