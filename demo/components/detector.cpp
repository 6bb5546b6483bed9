// SPDX-License-Identifier: Apache-2.0
// The detector: OpenCV's for pedestrians, or a model of the user's.
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
  }
};
CARDAN_COMPONENT(Detector)

}  // namespace cardan::street
