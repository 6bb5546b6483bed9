// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cardan/configuration.hpp"
#include "src/runtime/runtime.hpp"

namespace cardan::host {

struct HostOptions {
  /// Where its start is reported, one line each: "load COMPONENT", "start COMPONENT", then "ready", or why not: "failed
  /// CAUSE", or "refused CAUSE" where another start would end the same way. Then, whenever exceptions have left
  /// callbacks, at most twice a second and at the end: "threw NUMBER COMPONENT", all since its start; whenever
  /// something was published at the end of a chain that has a budget: "chain NEWS" (ChainNews); and "ends" before it
  /// stops its components in order. −1: nowhere.
  int ready_fd = -1;
  /// Where a crash report is written; −1: standard error.
  int report_fd = -1;
  /// As RuntimeOptions has them.
  std::vector<PoisonSample> poison{};
  std::map<std::string, LogLevel> log_levels{};
};

/// Runs one process of a configuration in the calling process, which is called by its name from then on, until SIGTERM
/// or SIGINT, and stops its components in order; once in a process. Returns the exit code: 0, or 1 when a component did
/// not start (the cause is on standard error). A callback that hangs longer than its watchdog, an exception whose rule
/// is `crash`, and a component that fails more often than `restart.limit` allows end the process by SIGABRT, after a
/// crash report. Blocks.
int run_host(const config::Configuration& configuration, const std::string& process, const HostOptions& options = {});

}  // namespace cardan::host
