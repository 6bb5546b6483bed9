// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cardan::street {

/// A pedestrian in a picture: a box in pixels of the full picture, origin at its upper left, and the detector's score
/// (0 to 1).
struct Person {
  float x, y, width, height;
  float score;
};

}  // namespace cardan::street
