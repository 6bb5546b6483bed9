// SPDX-License-Identifier: Apache-2.0
// The obstacle finder: takes the ground away and clusters the rest of each scan, where it lies.
#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>

#include "examples/street/cardan_bus.hpp"
#include "examples/street/drawing.hpp"
#include "examples/street/role_context.hpp"
#include "examples/street/socket_bus.hpp"

namespace cardan::street {
namespace {

// How good a scan is for the picture: the more pedestrians near the path the better.
int interest(std::span<const Obstacle> obstacles) {
  return static_cast<int>(std::count_if(obstacles.begin(), obstacles.end(), [](const Obstacle& o) {
    return o.kind == Obstacle::Kind::Pedestrian && o.x0 > 4 && o.x0 < 20 && std::abs(o.y0 + o.y1) < 4;
  }));
}

}  // namespace

void run_obstacles(const RoleOptions& options, const Reporter& report) {
  const Topic<PointCloud> clouds{kHopList[kCloudHop].topic, {}};
  const Topic<Detections3D> obstacles_topic{kHopList[kObstaclesHop].topic,
                                            {.max_bytes = ObstacleFinder::kMaxObstacles * sizeof(Detection3D)}};
  ObstacleFinder finder;
  std::vector<Point> best;
  std::vector<Obstacle> best_obstacles;
  int best_interest = -1;
  bool simulated = false;
  with_bus<CardanBus, SocketBus>(options, [&](auto& bus) {
    using Bus = std::remove_reference_t<decltype(bus)>;
    typename Bus::template Input<PointCloud> in(bus, clouds);
    typename Bus::template Output<Detections3D> out(bus, obstacles_topic);
    report.ready("ground removal and grid clusters");
    while (auto cloud = bus.next(in)) {
      report.received(kCloudHop, cloud, cloud->data.size());
      const auto points = cloud->template points<Point>();
      const auto obstacles = finder.find(points);
      auto found = out.loan();
      found->header = cloud->header;
      found->header.sequence = cloud.sequence();
      for (const Obstacle& o : obstacles) {
        Detection3D d;
        d.label = FixedString<60>(std::string_view(kind_name(o.kind)));
        d.score = std::min(1.0, static_cast<double>(o.points) / 50.0);
        d.center.position = {static_cast<double>(o.x0 + o.x1) / 2, static_cast<double>(o.y0 + o.y1) / 2,
                             static_cast<double>(o.z0 + o.z1) / 2};
        d.size = {static_cast<double>(o.x1 - o.x0), static_cast<double>(o.y1 - o.y0), static_cast<double>(o.z1 - o.z0)};
        found->detections.push_back(d);
      }
      out.publish(std::move(found));
      if (!report.wants_picture()) continue;
      if (const int now = interest(obstacles); now > best_interest) {
        best_interest = now;
        best.assign(points.begin(), points.end());
        best_obstacles.assign(obstacles.begin(), obstacles.end());
        simulated = cloud->header.frame_id == "lidar_simulated";
      }
    }
  });
  if (!best.empty()) report.picture(draw_obstacles(best, best_obstacles, simulated));
}

}  // namespace cardan::street
