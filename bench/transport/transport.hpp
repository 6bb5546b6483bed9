// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/transport/options.hpp"

namespace cardan::bench {

/// Exit codes of `cardan bench transport`.
enum ExitCode : int {
  kOk = 0,
  kFailed = 1,    ///< a process of a run failed, or the bench was interrupted
  kUsage = 2,     ///< options that can never work
  kWithLoss = 3,  ///< a reader of `cardan` lost or tore a frame
};

/// Measures what `options` say, prints a table to stdout and progress to stderr, writes the JSON file, and returns an
/// exit code. Blocks until the end or Ctrl-C, after which it reports what it has. Not thread-safe: it starts processes
/// and waits for signals; call it from a process with one thread.
int run_transport_bench(const TransportOptions& options);

}  // namespace cardan::bench
