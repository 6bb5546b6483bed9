// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "cardan/configuration.hpp"
#include "cardan/fixed_string.hpp"
#include "cardan/log.hpp"
#include "cardan/message.hpp"
#include "cardan/shm_vector.hpp"
#include "cardan/topic.hpp"

namespace cardan {

/// A line of the merged log of `cardan run`.
struct LogMessage {
  std::int64_t stamp = 0;  ///< nanoseconds since 1970
  LogLevel level = LogLevel::Info;
  FixedString<60> process{};    ///< "cardan": `cardan run` itself; cut if longer
  FixedString<60> component{};  ///< that logged it by Context::log(); empty: the process wrote it
  shm::string text;             ///< cut if longer than kMostLogText
};
inline constexpr std::size_t kMostLogText = 4000;

/// Where `cardan run` publishes its log. A late subscriber gets the last lines.
inline constexpr Topic<LogMessage> kLog{"/cardan/log", {.max_bytes = 4096, .depth = 64}};

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

CARDAN_MESSAGE(cardan::LogMessage, "cardan_msgs/msg/Log", stamp, level, process, component, text);
CARDAN_MESSAGE(cardan::SystemState, "cardan_msgs/msg/SystemState", since_ns, state, previous, system, reason);
