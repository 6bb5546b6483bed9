// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "cardan/messages/detections.hpp"
#include "cardan/messages/geometry.hpp"

namespace cardan::street {

/// How a camera sees: takes points of its optical frame (x to the right, y down, z ahead, in metres) to pixels. 3 × 4,
/// row by row, as KITTI's P_rect_02 and the P of ROS's CameraInfo.
using ProjectionMatrix = std::array<double, 12>;

/// A camera without distortion whose optical axis meets the middle of the picture. `fov`: horizontal, rad.
[[nodiscard]] ProjectionMatrix pinhole(double width, double height, double fov) noexcept;

/// A straight line in a picture, in pixels from its upper left.
struct PictureLine {
  double x0, y0, x1, y1;
};

/// The visible edges of a box, each within the picture, and the rectangle around them.
struct BoxInPicture {
  std::array<PictureLine, 12> lines{};
  std::size_t count = 0;  ///< of `lines`, 1 and more
  double left = 0, top = 0, right = 0, bottom = 0;
};

/// The edges of a box in a picture of that size. `in_camera`: the place of the box's frame in the camera's optical
/// frame. Parts that are less than 0.1 m ahead of the camera or outside of the picture are cut off. Empty: nothing is
/// left, or a number is not finite. Any thread; does not block or allocate.
[[nodiscard]] std::optional<BoxInPicture> box_in_picture(const Detection3D& box, const Transform& in_camera,
                                                         const ProjectionMatrix& projection, double width,
                                                         double height) noexcept;

}  // namespace cardan::street
