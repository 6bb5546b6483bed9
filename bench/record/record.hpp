// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/record/options.hpp"

namespace cardan::bench {

/// Measures Cardan's recorder against fio, rosbag2 (re-implemented), SPEED's copies and ROS 1's rosbag, with the
/// workloads of the SPEED paper: tables on stdout, progress on stderr, the JSON file. Returns an exit code: 0 ok, 1
/// interrupted or failed, 2 usage, 3 Cardan's recorder lost messages at a load that the disk can take. Blocks until the
/// end; call it from a process with one thread.
int run_record_bench(const RecordArguments& arguments, const std::vector<int>& cpus);

}  // namespace cardan::bench
