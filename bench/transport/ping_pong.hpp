// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace cardan::bench {

/// Round trips of one cache line between two CPUs, in µs: each sample is the mean of a batch of hand-overs without any
/// system call or clock in between. The floor under every transport, taken in the same minutes as its rows.
/// Empty when both CPUs are the same: then there is nothing to measure. Blocks for about `milliseconds`.
std::vector<double> measure_ping_pong(int cpu_a, int cpu_b, int milliseconds);

}  // namespace cardan::bench
