// SPDX-License-Identifier: Apache-2.0
// `cardan run FILE --from BAG`, for the command and for an interpreter of Python.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cardan/configuration.hpp"
#include "src/replay/recorded_time.hpp"

namespace cardan::replay {

struct RunFromOptions {
  std::vector<std::string> files;
  std::vector<std::string> without;
  std::string output;
  bool force = false;
  RecordedTime start{};
  std::optional<RecordedTime> until{};
  double max_gap = 600;  ///< seconds
  std::optional<double> seconds{};
  std::string json{};                      ///< file for a summary
  std::string reports = "out";             ///< folder of the crash reports
  double grace = 5;                        ///< seconds that a callback gets to come back when the end was asked for
  std::string command = "/proc/self/exe";  ///< the program `cardan`, which writes the report of a crash
};

/// "2 gaps of 3600.0 s in all were skipped (--max-gap)"
[[nodiscard]] std::string gaps_text(std::uint64_t gaps, std::int64_t nanoseconds);
/// Replays and prints what came of it. The exit code (terminal::ExitCode). Throws Error.
int run_from(const config::Configuration& configuration, const RunFromOptions& options);

}  // namespace cardan::replay
