// SPDX-License-Identifier: Apache-2.0
// What `cardan trace --from --to` prints.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/trace/hops.hpp"

namespace cardan::apps {

/// The callbacks that ran on the processor of a hop meanwhile: trace::meanwhile().
using Meanwhile = std::function<std::vector<trace::RanCallback>(const trace::HopTimes& hop, const std::string& by)>;

/// For each way: its hops with their shares of the mean, and its slowest ten frames.
[[nodiscard]] std::string hop_tables(const trace::TracedChain& chain, const std::string& from, const std::string& to,
                                     const Meanwhile& meanwhile);
/// The same as JSON: one object, with all figures in microseconds. `each_frame`: also the times of each frame.
[[nodiscard]] std::string hops_json(const trace::TracedChain& chain, const std::string& from, const std::string& to,
                                    const Meanwhile& meanwhile, bool each_frame = false);

}  // namespace cardan::apps
