// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "cardan/configuration.hpp"
#include "cardan/fixed_string.hpp"
#include "cardan/message.hpp"
#include "cardan/topic.hpp"

namespace cardan {

/// A change of the state of the whole system, so that a vehicle can stop safely. Plain data.
struct SystemState {
  std::int64_t since_ns = 0;  ///< steady clock: when the state began
  config::State state = config::State::Starting;
  config::State previous = config::State::Starting;
  FixedString<64> system{};   ///< the configuration's name
  FixedString<400> reason{};  ///< why it changed, in words
};

/// Where `cardan run` publishes each change. A late subscriber gets the last ones. A reader that is slow does not hold
/// up the supervision for longer than the time-out.
inline constexpr Topic<SystemState> kSystemState{
    "/cardan/state", {.depth = 8, .reliable = true, .reliable_timeout = std::chrono::milliseconds{5}}};

}  // namespace cardan

CARDAN_MESSAGE(cardan::SystemState, "cardan_msgs/msg/SystemState", since_ns, state, previous, system, reason);
