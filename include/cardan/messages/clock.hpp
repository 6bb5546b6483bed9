// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "cardan/messages/header.hpp"

namespace cardan {

/// The time inside a recording or a simulation; rosgraph_msgs/msg/Clock in ROS 2, on `/clock`.
struct Clock {
  std::int64_t clock = 0;  ///< nanoseconds of the clock that the stamps use (in ROS: int32 seconds + nanoseconds)
};

/// ROS has the time as RosTime.
template <>
struct CdrForm<Clock> {
  static constexpr std::size_t kLeastBytes = 8;
  static void write(CdrWriter& writer, const Clock& message) {
    const RosTime time = RosTime::from(message.clock);
    writer.number(time.sec);
    writer.number(time.nanosec);
  }
  static bool read(CdrReader& reader, Clock& message) noexcept {
    RosTime time;
    if (!reader.number(time.sec) || !reader.number(time.nanosec)) return false;
    message.clock = time.nanoseconds();
    return true;
  }
};

}  // namespace cardan

CARDAN_STANDARD_MESSAGE_(cardan::Clock, "rosgraph_msgs/msg/Clock", clock);
