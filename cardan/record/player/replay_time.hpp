// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cardan::record {

/// Recorders write their times by the wall clock. What had those times lived by a steady clock, which says how long a
/// computer has been up: years away from all that drivers stamp by the wall clock, so that a fusion of both makes no
/// sets. In a replay this must be so too; the steady clock's own reading is not in the file, and any other keeps the
/// distances as well. So the replay's steady clock begins at 2010, 14,610 days after 1970.
inline constexpr std::int64_t kReplayEpoch = 14'610LL * 86'400 * 1'000'000'000;

/// What to take from times of a recording whose first message has this log time, for the replay's steady clock. 0: it
/// was not written by the wall clock but by a simulation's, by which its components lived.
[[nodiscard]] constexpr std::int64_t replay_shift(std::uint64_t first_log_time) noexcept {
  return first_log_time < static_cast<std::uint64_t>(kReplayEpoch) ? 0 : kReplayEpoch;
}

}  // namespace cardan::record
