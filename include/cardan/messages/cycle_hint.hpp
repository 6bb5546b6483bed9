// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/fixed_string.hpp"
#include "cardan/message.hpp"
#include "cardan/topic.hpp"

namespace cardan {

/// An application's report on its cycle at each start and end (cardan/cycle.hpp), for a recorder that
/// writes while the pipeline idles (SPEED, III.B). Times are nanoseconds of the steady clock. Plain data: other
/// programs write it, so every reader must check it.
struct CycleHint {
  static constexpr double kMaxWeight = 1000;                     ///< the greatest `weight`
  static constexpr std::int64_t kMaxPeriod = 3'600'000'000'000;  ///< the longest `period_ns`: one hour

  std::uint64_t instance = 0;  ///< a random number of the Cycle object, because two programs may use the same name
  std::uint64_t count = 0;     ///< cycles started so far
  std::int64_t begin_ns = 0;   ///< start of the newest cycle
  std::int64_t end_ns = 0;     ///< end of the last finished cycle; 0: none has finished
  std::int64_t worked_ns = 0;  ///< duration of that cycle; a reader that looks rarely would not know its start
  std::int64_t period_ns = 0;  ///< from start to start, as the application expects it; 0: not given
  double weight = 1;           ///< relative to other applications' computing, above 0 to kMaxWeight
  bool busy = false;           ///< the newest cycle is still running
  FixedString<64> name{};      ///< of the Cycle object, for reports
};

/// One stream for each Cycle object. Only the freshest sample counts, and no publisher waits for it to be taken.
inline constexpr Topic<CycleHint> kCycles{"/cardan/cycles", {}};

}  // namespace cardan

CARDAN_STANDARD_MESSAGE_(cardan::CycleHint, "cardan_msgs/msg/CycleHint", instance, count, begin_ns, end_ns, worked_ns,
                         period_ns, weight, busy, name);
