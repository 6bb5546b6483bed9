// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

/// Samples are stamped by the steady clock, files have times of the wall clock. A recorder writes into each file how
/// far apart the two were, so that a replay can go by the clock that the recorded system lived by.
namespace cardan::record {

/// In the metadata record "cardan": nanoseconds to add to a steady stamp to have the wall clock's, in decimal.
inline constexpr std::string_view kCardanMetadata = "cardan";
inline constexpr std::string_view kWallClockAheadKey = "wall_clock_ahead_ns";

/// The same of this computer now. Any thread; never blocks.
[[nodiscard]] std::int64_t wall_clock_ahead() noexcept;

}  // namespace cardan::record
