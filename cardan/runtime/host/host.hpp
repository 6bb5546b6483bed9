// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cardan/runtime/config/configuration.hpp"

namespace cardan::host {

struct HostOptions {
  /// Where "ready\n" is written (and which is closed then) when all components have started; −1: nowhere.
  int ready_fd = -1;
  /// Where a crash report is written; −1: standard error.
  int report_fd = -1;
};

/// Runs one process of a configuration in the calling process, until SIGTERM or SIGINT, and stops its components in
/// order; once in a process. Returns the exit code: 0, or 1 when a component did not start (the cause is on standard
/// error). A callback that hangs longer than its watchdog, an exception whose rule is `crash`, and a component that
/// fails more often than `restart.limit` allows end the process by SIGABRT, after a crash report. Blocks.
int run_host(const config::Configuration& configuration, const std::string& process, const HostOptions& options = {});

}  // namespace cardan::host
