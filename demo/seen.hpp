// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace cardan::street {

/// A finding of a detector in a picture: a box in pixels of the full picture, origin at its upper left, the detector's
/// score (0 to 1), and what it is.
struct Seen {
  float x, y, width, height;
  float score;
  std::string_view label;  ///< of a static text: kPedestrian, or a class of coco.hpp
};

/// The findings of the HOG detector.
inline constexpr std::string_view kPedestrian = "pedestrian";

}  // namespace cardan::street
