// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/results/exit_code.hpp"
#include "bench/transport/options.hpp"

namespace cardan::bench {

/// Measures what `options` say, prints a table to stdout and progress to stderr, writes the JSON file, and returns an
/// exit code. Blocks until the end or Ctrl-C, after which it reports what it has. Not thread-safe: it starts processes
/// and waits for signals; call it from a process with one thread.
int run_transport_bench(const TransportOptions& options);

}  // namespace cardan::bench
