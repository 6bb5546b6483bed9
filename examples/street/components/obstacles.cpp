// SPDX-License-Identifier: Apache-2.0
// The obstacle finder: takes the ground away and clusters the rest of each scan.
#include "examples/street/components/finder.hpp"

namespace cardan::street {

class Obstacles : public Finder<PointCloud, Detections3D, ObstacleStep> {
  void on_start(Context& context) override { declare(context, kCloudHop, kClouds, kObstacles); }
};
CARDAN_COMPONENT(Obstacles)

}  // namespace cardan::street
