// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace cardan::street {

/// What a detector saw in a picture: a box in pixels of the full picture, origin at its upper left, the detector's
/// score (0 to 1), and what it is.
struct Seen {
  float x, y, width, height;
  float score;
  std::string_view label;  ///< of a static text: kPedestrian, or a class of coco.hpp
};

/// What the HOG detector finds.
inline constexpr std::string_view kPedestrian = "pedestrian";

}  // namespace cardan::street
