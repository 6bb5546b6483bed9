// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

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

}  // namespace cardan

CARDAN_MESSAGE(cardan::LogMessage, "cardan_msgs/msg/Log", stamp, level, process, component, text);
