// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/actor.hpp"
#include "bench/record/rows.hpp"
#include "bench/record/sensors.hpp"
#include "bench/results/host.hpp"

namespace cardan::bench::recording {

/// Where the parts of a run are, and what they share.
struct Setting {
  std::string run_dir{};         ///< CARDAN_RUN_DIR of all
  int producer_cpu = 0;          ///< where the sensors are; recorders may use all CPUs
  int task_cpu = 0;              ///< where the task, the pipeline and the reader are
  std::uint64_t unit_steps = 1;  ///< of the task's and the pipeline's work
  Stopped stopped = nullptr;
};

/// One run: sensors, the recorder, and what else runs.
struct RunSpec {
  Peer peer = Peer::Cardan;
  Sensors sensors{};
  Schedule schedule = Schedule::Absolute;
  double seconds = 5;
  bool reader = false;  ///< another reader of the first topic
  bool task = false;    ///< the task of 10 ms
  char scene = 0;       ///< the pipeline, in this scene
  std::string file{};   ///< without its ending
};

/// Runs it once: all processes are gone when it returns, what was recorded is durable. Throws Error when one of them
/// failed. Blocks; returns early, and then says nothing, when the user stops it.
[[nodiscard]] std::optional<RunFigures> run_once(const RunSpec& spec, const Setting& setting);

/// Messages of `sensors` that the files hold, by their own indexes; `damaged`: of some that are read, those that are
/// not as they were made. Throws Error: they cannot be read.
struct FileContent {
  std::uint64_t messages = 0, bytes = 0, damaged = 0;
};
[[nodiscard]] FileContent content_of(const std::vector<std::string>& files, const Sensors& sensors);

/// CPU time of the whole machine between two readings, less what was idle and stolen.
[[nodiscard]] double cpu_seconds(const CpuTicks& from, const CpuTicks& to);

}  // namespace cardan::bench::recording
