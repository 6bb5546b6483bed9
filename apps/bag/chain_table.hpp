// SPDX-License-Identifier: Apache-2.0
// What `cardan bag chain` prints.
#pragma once

#include <string>

#include "src/record/recorded_chain.hpp"

namespace cardan::apps {

/// For each way: its hops with their shares of the mean, and its slowest ten frames; and how many publications are on
/// no way, and why.
[[nodiscard]] std::string chain_tables(const record::RecordedChain& chain, const std::string& from,
                                       const std::string& to);
/// The same as JSON: one object, with all figures in microseconds.
[[nodiscard]] std::string chain_json(const record::RecordedChain& chain, const std::string& from,
                                     const std::string& to);
/// A line for each frame: its stamp and number, a column for each hop of any way, and their sum. Microseconds.
/// Throws Error (Limit): the table is too large, because of many ways with different hops.
[[nodiscard]] std::string chain_csv(const record::RecordedChain& chain);

}  // namespace cardan::apps
