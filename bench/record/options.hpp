// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "bench/record/rows.hpp"

namespace cardan::bench {

/// The words of the command line, as typed; empty or 0: not given.
struct RecordArguments {
  std::string only{}, peers{}, schedule{}, folder{}, json{};
  double seconds = 0;
  int runs = 0, cameras = 0, producer_cpu = -1, task_cpu = -1;
  bool quick = false, full = false, keep = false;
  std::string part{};  ///< this process plays a part that the bench has started
};

namespace recording {

/// The measurement of `cardan bench record`, checked and complete.
struct RecordOptions {
  std::set<Part> parts{};
  std::set<std::string, std::less<>> peers{};  ///< fio, cardan, speed, rosbag2, rosbag
  std::vector<Schedule> schedules{};           ///< of the cameras' sweep
  double seconds = 5;                          ///< that sensors send in a run
  std::uint32_t runs = 3;
  std::uint32_t camera_runs = 1;  ///< rounds of the cameras' sweep, which is the longest part
  /// … of the parts whose figures are deviations and percentiles: one stall of the machine must not decide them.
  std::uint32_t task_runs = 7, bystander_runs = 7, pipeline_runs = 3;
  std::uint32_t most_cameras = 0;  ///< where the sweep ends; 0: where the disk does
  std::uint64_t rate_bytes = 20'000'000'000;
  double rate_seconds = 30;
  double scene_share = 1.0 / 6;  ///< of the scenes' length
  int producer_cpu = 0, task_cpu = 0;
  std::string folder{}, json{};
  bool keep = false;

  [[nodiscard]] bool has(Part part) const { return parts.contains(part); }
  [[nodiscard]] bool has(Peer peer) const;  ///< those without a recorder always
};

/// Checks and completes what was typed, for a machine with these CPUs. Throws Error{InvalidArgument} that names the
/// word and what would be right.
[[nodiscard]] RecordOptions parse_options(const RecordArguments& arguments, const std::vector<int>& cpus);

}  // namespace recording
}  // namespace cardan::bench
