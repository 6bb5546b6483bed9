// SPDX-License-Identifier: Apache-2.0
// The camera driver: decodes each picture straight into the memory that its readers see.
#include <opencv2/core.hpp>

#include "examples/street/camera_source.hpp"
#include "examples/street/cardan_bus.hpp"
#include "examples/street/role_context.hpp"
#include "examples/street/socket_bus.hpp"

namespace cardan::street {

void run_camera(const RoleOptions& options, const Reporter& report) {
  CameraSource camera(options.camera);
  const int rows = camera.height();
  const int columns = camera.width();
  const Topic<Image> topic{kHopList[kImageHop].topic,
                           {.max_bytes = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) * 3}};
  with_bus<CardanBus, SocketBus>(options, [&](auto& bus) {
    typename std::remove_reference_t<decltype(bus)>::template Output<Image> out(bus, topic);
    report.ready(camera.describe(), static_cast<std::uint64_t>(columns));
    while (camera.wait(&stopping)) {
      auto frame = out.loan();
      cv::Mat picture = frame->mat(rows, columns, CV_8UC3);
      camera.read(picture);
      frame->header.stamp = wall_now();
      frame->header.frame_id = "camera";
      frame->header.sequence = out.published() + 1;
      out.publish(std::move(frame));
    }
  });
}

}  // namespace cardan::street
