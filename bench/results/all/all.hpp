// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/results/all/parts.hpp"

namespace cardan::bench {

struct AllOptions {
  std::vector<PartRun> parts{};
  std::string out = "out/report";
  bool resume = false;  ///< keeps parts that finished before with the same arguments
  std::string program = "/proc/self/exe";
  std::vector<std::string> program_arguments{"cardan-bench", "bench"};  ///< before the part's name
  double least_limit_seconds = 300;  ///< a part has at least this long before it counts as hanging
};

/// Runs the parts one after the other, each in its own process, then writes the report of what there is to `out`:
/// index.html, summary.md, results.json; in `out`/parts each part's JSON, table (.txt) and log. A part that crashes,
/// hangs or fails is a line, and the others run. Ctrl-C ends the part in order and the report has what it measured.
/// Returns an exit code: 0 ok, 1 a part failed or was interrupted, 2 wrong options, 3 something was lost. Blocks; call
/// it from a process with one thread. While a part runs it sleeps.
int run_all_parts(const AllOptions& options);

/// The words of the command line.
struct AllArguments {
  std::string selection = "quick", only{}, out = "out/report";
  std::vector<std::string> peers{};  ///< of the transport, that this program has
  bool cpu_budget = false;           ///< this computer can limit the CPU time of processes
  bool resume = false;
};
/// `cardan bench all`.
int run_all(const AllArguments& arguments);

}  // namespace cardan::bench
