// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "demo/decision/obstacles.hpp"
#include "demo/picture.hpp"
#include "demo/seen.hpp"
#include "demo/sensors/projection.hpp"

// Pictures of the detections, as PNG files. In a build without OpenCV there are none: the functions return false or "".

namespace cardan::street {

/// The LiDAR's obstacles in a camera's picture.
struct LidarInPicture {
  struct Box {
    BoxInPicture box;
    Obstacle::Kind kind;
    double distance;  ///< m, from the LiDAR to the middle of the obstacle
  };
  std::vector<Box> obstacles{};
  bool simulated = false;
};

/// Writes the picture with a rectangle around each thing that `detector` saw, and the edges of each obstacle in blue,
/// with their distance: structures (house fronts) darker and without it. `lidar` null: the LiDAR's obstacles are not
/// known there. False: the file cannot be written.
[[nodiscard]] bool draw_seen(const std::string& file, const Picture& picture, std::span<const Seen> seen,
                             const std::string& detector, const LidarInPicture* lidar = nullptr);

/// Writes the scan from above, the car at the lower middle looking up, with a box around each obstacle and the car's
/// path. False: as above.
[[nodiscard]] bool draw_obstacles(const std::string& file, std::span<const Point> cloud,
                                  std::span<const Obstacle> obstacles, bool simulated);

/// The pictures of two files side by side at the same height, as the bytes of a PNG; one alone when the other is
/// missing; "" when both are.
[[nodiscard]] std::string side_by_side(const std::string& left, const std::string& right);

}  // namespace cardan::street
