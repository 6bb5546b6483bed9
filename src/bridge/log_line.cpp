// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/log_line.hpp"

#include <algorithm>

#include "cardan/cdr_writer.hpp"
#include "cardan/messages/header.hpp"

namespace cardan::bridge {
namespace {

/// Of rcl_interfaces/msg/Log.
std::uint8_t level_in_ros(LogLevel level) {
  constexpr std::uint8_t kDebug = 10, kInfo = 20, kWarn = 30, kError = 40;
  if (level == LogLevel::Error) return kError;
  if (level == LogLevel::Debug) return kDebug;
  return level == LogLevel::Warning ? kWarn : kInfo;
}

}  // namespace

std::vector<std::byte> ros_log_line(const LogLineView& line) {
  std::vector<std::byte> bytes;
  std::vector<std::byte> unused;
  CdrWriter out(bytes, unused, nullptr);
  const RosTime time = RosTime::from(line.stamp);
  out.number(time.sec);
  out.number(time.nanosec);
  out.number(level_in_ros(line.level));
  out.string(line.component.empty() ? line.process : line.component);
  out.string(line.text.substr(0, std::min(line.text.size(), kMostLogText)));
  out.string("");
  out.string("");
  out.number(std::uint32_t{0});
  return bytes;
}

}  // namespace cardan::bridge
