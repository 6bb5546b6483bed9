// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cardan::bench {

/// The words of the command line, as typed; empty or 0: not given.
struct RuntimeArguments {
  std::string sizes{}, json{};
  int runs = 0, frames = 0, publisher_cpu = -1, reader_cpu = -1;
  bool quick = false;
};

/// Measures components of one process against a bare hand-over between two threads, and against ROS 1 nodelets where
/// they are there; ways to fuse topics; whole systems: a table on stdout, progress on stderr, the JSON file. Returns an
/// exit code: 0 ok, 1 interrupted or failed, 2 usage, 3 frames of cardan were lost. Blocks until the end; call it from
/// a process with one thread.
int run_runtime_bench(const RuntimeArguments& arguments, const std::vector<int>& cpus);

}  // namespace cardan::bench
