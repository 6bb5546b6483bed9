// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "demo/decision/obstacles.hpp"
#include "demo/picture.hpp"
#include "demo/seen.hpp"

// Pictures of the detections, as PNG files. In a build without OpenCV there are none: the functions return false or "".

namespace cardan::street {

/// Writes the picture with a box around each thing that `detector` saw. False: the file cannot be written.
[[nodiscard]] bool draw_seen(const std::string& file, const Picture& picture, std::span<const Seen> seen,
                             const std::string& detector);

/// Writes the scan from above, the car at the lower middle looking up, with a box around each obstacle and the car's
/// path. False: as above.
[[nodiscard]] bool draw_obstacles(const std::string& file, std::span<const Point> cloud,
                                  std::span<const Obstacle> obstacles, bool simulated);

/// The pictures of two files side by side at the same height, as the bytes of a PNG; one alone when the other is
/// missing; "" when both are.
[[nodiscard]] std::string side_by_side(const std::string& left, const std::string& right);

}  // namespace cardan::street
