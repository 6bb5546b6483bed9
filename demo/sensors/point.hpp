// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cardan/point_cloud.hpp"

namespace cardan::street {

/// One LiDAR return in the sensor's frame (x forward, y left, z up, metres). A ray without a return is a point of NaNs,
/// as in PCL's organized clouds.
using Point = PointXYZI;

}  // namespace cardan::street
