// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cardan/log.hpp"
#include "src/system/launcher/topics.hpp"

namespace cardan::bridge {

/// A line of the log, as ROS 2, Foxglove and Lichtblick show it in their views of logs.
inline constexpr const char* kRosLogType = "rcl_interfaces/msg/Log";
inline constexpr const char* kRosLogDefinition =
    "builtin_interfaces/Time stamp\nuint8 level\nstring name\nstring msg\nstring file\nstring function\nuint32 line\n"
    "================================================================================\nMSG: builtin_interfaces/Time\n"
    "int32 sec\nuint32 nanosec\n";

/// A line of the merged log of `cardan run`. `level` may be any number: another process wrote it.
struct LogLineView {
  std::int64_t stamp = 0;
  LogLevel level = LogLevel::Info;
  std::string_view process{}, component{}, text{};
};
[[nodiscard]] inline LogLineView view_of(const LogMessage& line) {
  return {line.stamp, line.level, line.process.view(), line.component.view(), {line.text.data(), line.text.size()}};
}

/// The line as kRosLogType in CDR. Throws std::bad_alloc alone. Any thread; does not block.
[[nodiscard]] std::vector<std::byte> ros_log_line(const LogLineView& line);

}  // namespace cardan::bridge
