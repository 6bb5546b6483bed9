// SPDX-License-Identifier: Apache-2.0
// The module that has the stages (stages.hpp).
#include <opencv2/core/utility.hpp>

#include "bench/pipeline/messages.hpp"
#include "bench/pipeline/stages.hpp"
#include "bench/pipeline/vision/pictures.hpp"
#include "bench/pipeline/vision/play.hpp"
#include "demo/detector/picture_detector.hpp"

namespace cardan::bench::perception {
namespace {

LookedAt look(const StageInputs& inputs) {
  cv::setNumThreads(1);  // none that would stay in this process, which starts others
  const Pictures pictures(inputs, 1);
  const auto width = static_cast<std::uint32_t>(pictures.size().width);
  const auto height = static_cast<std::uint32_t>(pictures.size().height);
  const auto bytes = camera_link_bytes(picture_bytes(width, height));
  return {.width = width,
          .height = height,
          .camera = pictures.name(),
          .detector = street::open_detector(inputs.detector)->name(),
          .link_bytes = {bytes.begin(), bytes.end()}};
}

constexpr StagesModule kModule{look, play};

}  // namespace
}  // namespace cardan::bench::perception

extern "C" const cardan::bench::perception::StagesModule* cardan_bench_pipeline_stages() {
  return &cardan::bench::perception::kModule;
}
