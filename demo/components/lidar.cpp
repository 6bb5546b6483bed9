// SPDX-License-Identifier: Apache-2.0
// The LiDAR driver: decodes, reads or simulates each scan straight into the memory that its readers see.
#include <memory>
#include <string>

#include "cardan/component.hpp"
#include "demo/components/driver.hpp"
#include "demo/components/notes.hpp"
#include "demo/steps.hpp"

namespace cardan::street {

class Lidar : public Component {
  void on_start(Context& context) override {
    const auto source = context.parameter(
        "source", std::string(),
        {.description = "Velodyne pcap file, folder of KITTI scans, or UDP port; empty: a simulated street",
         .fixed = true});
    source_ = open_lidar(*source, beside_of(context, "camera", "the camera's folder"));
    clouds_ = context.output(topic_of(*source_));
    notes_.open(context);
    driver_.begin_with(context, [this](const Driver::Stopping& stopping) { drive(stopping); });
  }
  void on_stop() override { driver_.stop(); }

  void drive(const Driver::Stopping& stopping) {
    notes_.say(ready_note(static_cast<std::uint8_t>(Role::Lidar), source_->describe()));
    while (source_->wait(stopping)) {
      auto cloud = clouds_.loan();
      if (!cloud) continue;
      fill(*cloud, *source_, clouds_.published() + 1);
      clouds_.publish(std::move(cloud));
    }
  }

  std::unique_ptr<LidarSource> source_;
  Output<PointCloud> clouds_;
  Notes notes_;
  Driver driver_;
};
CARDAN_COMPONENT(Lidar)

}  // namespace cardan::street
