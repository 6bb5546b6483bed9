// SPDX-License-Identifier: Apache-2.0
// The module that has the stages of the LiDAR's pipeline (stages.hpp).
#include "bench/pipeline/lidar/play.hpp"
#include "bench/pipeline/stages.hpp"

namespace {
constexpr cardan::bench::perception::StagesModule kLidarModule{cardan::bench::perception::lidar::look,
                                                               cardan::bench::perception::lidar::play};
}  // namespace

extern "C" const cardan::bench::perception::StagesModule* cardan_bench_pipeline_stages() { return &kLidarModule; }
