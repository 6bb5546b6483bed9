// SPDX-License-Identifier: Apache-2.0
// The camera driver: decodes each picture straight into the memory that its readers see.
#include <memory>
#include <string>

#include "cardan/component.hpp"
#include "demo/components/driver.hpp"
#include "demo/components/notes.hpp"
#include "demo/files.hpp"
#include "demo/steps.hpp"

namespace cardan::street {

class Camera : public Component {
  void on_start(Context& context) override {
    const auto video = context.parameter(
        "video", std::string(),
        {.description =
             "video file (looped), folder of pictures, V4L2 device or URL; \"drawn\": a drawn street; empty: the "
             "pedestrian street video, or the drawn street if that is not here",
         .fixed = true});
    const auto calibration = context.parameter(
        "calibration", std::string(),
        {.description =
             "folder with KITTI's calib_*.txt, of the day of the pictures; empty: a field of view of 1.2 rad",
         .fixed = true});
    source_ =
        open_camera((*video).empty() ? usual_camera() : *video, beside_of(context, "lidar", "the LiDAR's folder"));
    projection_ = projection_of(*source_, *video, *calibration);
    images_ = context.output(topic_of(*source_));
    info_ = context.output(kCameraInfo);
    notes_.open(context);
    driver_.begin_with(context, [this](const Driver::Stopping& stopping) { drive(stopping); });
  }
  void on_stop() override { driver_.stop(); }

  void drive(const Driver::Stopping& stopping) {
    const auto width = static_cast<std::uint32_t>(source_->width());
    if (auto info = info_.loan()) {
      info->width = width;
      info->height = static_cast<std::uint32_t>(source_->height());
      info->projection = projection_;
      info_.publish(std::move(info));
    }
    notes_.say(ready_note(static_cast<std::uint8_t>(Role::Camera), source_->describe(), width));
    while (source_->wait(stopping)) {
      auto image = images_.loan();
      if (!image) continue;  // its readers hold all slots: this picture is lost
      fill(*image, *source_, images_.published() + 1);
      images_.publish(std::move(image));
    }
  }

  std::unique_ptr<CameraSource> source_;
  ProjectionMatrix projection_{};
  Output<Image> images_;
  Output<CameraInfo> info_;
  Notes notes_;
  Driver driver_;
};
CARDAN_COMPONENT(Camera)

}  // namespace cardan::street
