// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/transport/topic.hpp"
#include "cardan/types/fixed_string.hpp"
#include "cardan/types/message.hpp"

namespace cardan {

/// What an application says about its cycle at each begin and end (cardan/runtime/cycle.hpp), for a recorder that wants
/// to write while the pipeline idles (SPEED, III.B). Times are nanoseconds of the steady clock. Plain data; whoever
/// reads it checks it, since other programs write it.
struct CycleHint {
  static constexpr double kMaxWeight = 1000;
  static constexpr std::int64_t kMaxPeriod = 3'600'000'000'000;  ///< an hour

  std::uint64_t instance = 0;  ///< a random number of the Cycle object: two programs may use one name
  std::uint64_t count = 0;     ///< cycles begun so far
  std::int64_t begin_ns = 0;   ///< when the newest of them began
  std::int64_t end_ns = 0;     ///< when the last one that is over ended; 0: none is
  std::int64_t worked_ns = 0;  ///< how long that one took: who looks rarely would not know its begin
  std::int64_t period_ns = 0;  ///< from begin to begin, as the application expects it; 0: it does not say
  double weight = 1;           ///< against other applications' computing, above 0 to kMaxWeight
  bool busy = false;           ///< the newest cycle is not over
  FixedString<64> name{};
};

/// One stream for each Cycle object. The freshest is all that counts, and nobody waits for it.
inline constexpr Topic<CycleHint> kCycles{"/cardan/cycles", {}};

}  // namespace cardan

CARDAN_MESSAGE(cardan::CycleHint, "cardan_msgs/msg/CycleHint", instance, count, begin_ns, end_ns, worked_ns, period_ns,
               weight, busy, name);
