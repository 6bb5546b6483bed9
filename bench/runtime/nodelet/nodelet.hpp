// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/runtime/workload.hpp"

namespace cardan::bench {

/// Why the peer `nodelet` cannot be measured here and what to install, as one sentence; empty: it can. Starts the
/// program that measures it once, without work, to see whether its libraries are there. Blocks for milliseconds.
std::string why_no_nodelets();

/// One run of RuntimePeer::Nodelet or NodeletNew. Blocks for frames × interval, and some seconds for a ROS master and
/// the nodelets' process; both end with this call, and leave nothing. Ends early, with no samples, when
/// `stopped` gets true. Throws Error (Unavailable, System): the master or the nodelets did not run, and what they said.
RuntimeSamples run_nodelet(const RuntimeCell& cell, RuntimePeer peer, const RuntimeBenchOptions& options,
                           bool (*stopped)());

}  // namespace cardan::bench
