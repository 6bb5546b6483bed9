// SPDX-License-Identifier: Apache-2.0
// The LiDAR driver: decodes, reads or simulates each scan straight into the memory that its readers see.
#include "examples/street/cardan_bus.hpp"
#include "examples/street/lidar_source.hpp"
#include "examples/street/role_context.hpp"
#include "examples/street/socket_bus.hpp"

namespace cardan::street {

void run_lidar(const RoleOptions& options, const Reporter& report) {
  const auto lidar = open_lidar(options.lidar);
  const Topic<PointCloud> topic{kHopList[kCloudHop].topic, {.max_bytes = lidar->max_points() * sizeof(Point)}};
  const FrameId frame = lidar->simulated() ? FrameId("lidar_simulated") : FrameId("lidar");
  with_bus<CardanBus, SocketBus>(options, [&](auto& bus) {
    typename std::remove_reference_t<decltype(bus)>::template Output<PointCloud> out(bus, topic);
    report.ready(lidar->describe());
    while (lidar->wait(&stopping)) {
      auto cloud = out.loan();
      const std::size_t room = lidar->due();
      const std::size_t points = lidar->fill(cloud->template resize_points_for_overwrite<Point>(room, lidar->rows()));
      if (points < room) static_cast<void>(cloud->template resize_points_for_overwrite<Point>(points));
      cloud->is_dense = lidar->rows() == 1;
      cloud->header.stamp = wall_now();
      cloud->header.frame_id = frame;
      cloud->header.sequence = out.published() + 1;
      out.publish(std::move(cloud));
    }
  });
}

}  // namespace cardan::street
