// SPDX-License-Identifier: Apache-2.0
// What `cardan trace --from --to` prints.
#pragma once

#include <string>

#include "apps/trace/hops.hpp"

namespace cardan::apps {

/// For each way: its hops with their shares of the mean, and its slowest ten frames.
[[nodiscard]] std::string hop_tables(const TracedChain& chain, const std::string& from, const std::string& to);
/// The same as JSON: one object, with all figures in microseconds. `each_frame`: also the times of each frame.
[[nodiscard]] std::string hops_json(const TracedChain& chain, const std::string& from, const std::string& to,
                                    bool each_frame = false);

}  // namespace cardan::apps
