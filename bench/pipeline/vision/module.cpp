// SPDX-License-Identifier: Apache-2.0
// The module that has the stages (stages.hpp).
#include <opencv2/core/utility.hpp>

#include "bench/pipeline/stages.hpp"
#include "bench/pipeline/vision/pictures.hpp"
#include "bench/pipeline/vision/play.hpp"
#include "demo/detector/picture_detector.hpp"

namespace cardan::bench::perception {
namespace {

LookedAt look(const StageInputs& inputs) {
  cv::setNumThreads(1);  // none that would stay in this process, which starts others
  const Pictures pictures(inputs.camera, 1);
  return {.width = static_cast<std::uint32_t>(pictures.size().width),
          .height = static_cast<std::uint32_t>(pictures.size().height),
          .camera = pictures.name(),
          .detector = street::open_detector(inputs.detector)->name()};
}

constexpr StagesModule kModule{look, play};

}  // namespace
}  // namespace cardan::bench::perception

extern "C" const cardan::bench::perception::StagesModule* cardan_bench_pipeline_stages() {
  return &cardan::bench::perception::kModule;
}
