// SPDX-License-Identifier: Apache-2.0
// The detector: OpenCV's for pedestrians, or a model of the user's. Into its picture it also draws the obstacles of the
// LiDAR, if it is known where the sensors are.
#include <chrono>
#include <cstdint>
#include <string>

#include "demo/components/finder.hpp"

namespace cardan::street {

class Detector : public Finder<Image, Detections2D, DetectStep> {
  void on_start(Context& context) override {
    const auto model = context.parameter(
        "model", std::string(),
        {.description = "ONNX file of a detector (FastestDet, YOLO); empty: OpenCV's HOG pedestrian detector, for a "
                        "drawn street what moves",
         .fixed = true});
    const auto threads = context.parameter(
        "threads", std::int64_t{0},
        {.min = 0, .max = 256, .description = "threads for one picture; 0: as many as there are CPUs", .fixed = true});
    declare(context, kImageHop, kImages, kSeen,
            DetectStep::Options{.model = *model, .threads = static_cast<int>(*threads)});
    if (draws()) read_lidar(context);
  }

  /// Not without a picture: each reader of a topic costs its publisher a wake-up.
  void read_lidar(Context& context) {
    transforms_ = context.transforms();
    camera_ = context.latest(kCameraInfo, {.rests_on = false});
    // Scans that come while the detector is busy wait: one of them is nearest to its picture. The detections of a
    // picture do not rest on them.
    context.input(kObstacles,
                  [this](const Sample<Detections3D>& obstacles) {
                    obstacles_ = obstacles;
                    join();
                  },
                  {.rests_on = false});
    started_ = context.now();
  }
  void remember(const Image& image) override {
    Finder::remember(image);
    join();
  }
  /// Puts the obstacles that came last into the remembered picture, if they are nearest to it in time.
  void join() {
    const Header* const picture = step().remembered();
    const Sample<CameraInfo> camera = camera_.get();
    if (picture == nullptr || !camera || !obstacles_ || !step().is_nearer(obstacles_->header)) return;
    const FoundTransform place = transforms_.lookup(picture->frame_id, obstacles_->header.frame_id, picture->stamp);
    if (place)
      step().remember(*obstacles_, *place, camera->projection);
    else
      say_once(place);
  }
  /// Not in the first moment: places may come a little later than pictures.
  void say_once(const FoundTransform& place) {
    constexpr std::int64_t kPatience = 1'000'000'000;  // ns
    if (said_ || context().now() - started_ < kPatience) return;
    said_ = true;
    context().log(LogLevel::Warning, "the LiDAR's obstacles are not drawn into the picture: " + place.text());
  }

  Transforms transforms_;
  Latest<CameraInfo> camera_;
  Sample<Detections3D> obstacles_;
  std::int64_t started_ = 0;
  bool said_ = false;
};
CARDAN_COMPONENT(Detector)

}  // namespace cardan::street
