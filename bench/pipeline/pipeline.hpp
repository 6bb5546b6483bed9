// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/pipeline/stages.hpp"

namespace cardan::bench {

/// The words of the command line, as typed; empty or 0: not given.
struct PipelineArguments {
  std::string chain{}, peers{}, waits{}, links{}, json{};
  perception::StageInputs inputs{};
  double rate_hz = 0;
  int runs = 0, frames = 0;
  bool quick = false;
  int role_fd = -1;  ///< this process is a stage that the harness started
  int role_index = 0;
};

/// Measures a pipeline with real algorithms in five or six processes, whose links are made by each peer in turn: a
/// table on stdout, progress on stderr, the JSON file. Returns an exit code: 0 ok, 1 interrupted or failed, 2 usage, 3
/// a link made by `cardan` lost or tore a frame. Built without OpenCV (or PCL, for the LiDAR's) it says so, measures
/// nothing and returns 0.
/// Blocks until the end; call it from a process with one thread.
int run_pipeline_bench(const PipelineArguments& arguments, const std::vector<int>& cpus);

}  // namespace cardan::bench
