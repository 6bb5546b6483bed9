// SPDX-License-Identifier: Apache-2.0
// The obstacle finder: takes the ground and the own vehicle away and clusters the rest of each scan.
#include <cmath>

#include "demo/components/finder.hpp"

namespace cardan::street {

class Obstacles : public Finder<PointCloud, Detections3D, ObstacleStep> {
  void on_start(Context& context) override {
    const auto metres = [&](const char* name, float value, const char* what) {
      const double initial = std::round(static_cast<double>(value) * 1000) / 1000;  // 1.1, and not 1.10000002
      const auto parameter =
          context.parameter(name, initial, {.min = 0.0, .max = 30.0, .description = what, .fixed = true});
      return static_cast<float>(*parameter);
    };
    const OwnVehicle car;
    declare(context, kCloudHop, kClouds, kObstacles,
            OwnVehicle{.front = metres("own_front_m", car.front, "the own vehicle, ahead of the LiDAR"),
                       .rear = metres("own_rear_m", car.rear, "the own vehicle, behind the LiDAR"),
                       .side = metres("own_side_m", car.side, "the own vehicle, to each side of the LiDAR")});
  }
};
CARDAN_COMPONENT(Obstacles)

}  // namespace cardan::street
