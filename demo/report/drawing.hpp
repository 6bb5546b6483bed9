// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core/mat.hpp>
#include <span>
#include <string>

#include "demo/decision/obstacles.hpp"
#include "demo/seen.hpp"

namespace cardan::street {

/// "2 cars, 1 person"; "nothing".
[[nodiscard]] std::string count_text(std::span<const Seen> seen);

/// The picture with a box around each thing that `detector` saw. Draws into a copy.
[[nodiscard]] cv::Mat draw_seen(const cv::Mat& picture, std::span<const Seen> seen, const std::string& detector);

/// The scan from above, the car at the lower middle looking up, with a box around each obstacle and the car's path.
[[nodiscard]] cv::Mat draw_obstacles(std::span<const Point> cloud, std::span<const Obstacle> obstacles, bool simulated);

/// Two pictures side by side at the same height; one alone when the other is empty.
[[nodiscard]] cv::Mat side_by_side(const cv::Mat& left, const cv::Mat& right);

}  // namespace cardan::street
