// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "cardan/cdr.hpp"
#include "cardan/fixed_string.hpp"
#include "cardan/message.hpp"

namespace cardan {

/// The name of a coordinate frame ("base_link"). Longer names do not fit; those that come from ROS are refused.
using FrameId = FixedString<60>;

/// Time and frame of a measurement; std_msgs/msg/Header in ROS 2.
struct Header {
  std::int64_t stamp =
      0;  ///< time of the measurement, wall or PTP clock, nanoseconds since 1970 (in ROS: int32 seconds + nanoseconds)
  std::uint64_t sequence = 0;  ///< the sensor's own count, if it has one; not part of the ROS form
  FrameId frame_id;            ///< coordinate frame of the data (REP-105)

  friend bool operator==(const Header&, const Header&) = default;
};

/// builtin_interfaces/Time. ROS counts seconds in 32 bits, so a stamp before 1901 or after January 2038 is written as
/// the nearest time that ROS can represent.
struct RosTime {
  std::int32_t sec = 0;       ///< since 1970, rounded down
  std::uint32_t nanosec = 0;  ///< after that second, 0 to 999,999,999

  static constexpr std::int64_t kSecond = 1'000'000'000;  ///< nanoseconds

  /// The time of a stamp, nanoseconds since 1970.
  [[nodiscard]] static constexpr RosTime from(std::int64_t nanoseconds) noexcept {
    std::int64_t seconds = nanoseconds / kSecond;
    std::int64_t rest = nanoseconds % kSecond;
    if (rest < 0) {
      rest += kSecond;
      --seconds;
    }
    constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    if (seconds < kLeast) return {static_cast<std::int32_t>(kLeast), 0};
    if (seconds > kMost) return {static_cast<std::int32_t>(kMost), static_cast<std::uint32_t>(kSecond - 1)};
    return {static_cast<std::int32_t>(seconds), static_cast<std::uint32_t>(rest)};
  }

  /// Nanoseconds since 1970.
  [[nodiscard]] constexpr std::int64_t nanoseconds() const noexcept { return sec * kSecond + nanosec; }
};

/// ROS has the stamp as RosTime, and no `sequence`.
template <>
struct CdrForm<Header> {
  static constexpr std::size_t kLeastBytes = 12;  // the stamp and the length of a text
  static void write(CdrWriter& writer, const Header& header) {
    const RosTime time = RosTime::from(header.stamp);
    writer.number(time.sec);
    writer.number(time.nanosec);
    writer.string(header.frame_id);
  }
  /// Sets `sequence` to 0, because ROS does not carry it.
  static bool read(CdrReader& reader, Header& header) noexcept {
    RosTime time;
    std::string_view frame;
    if (!reader.number(time.sec) || !reader.number(time.nanosec) || !reader.string(frame)) return false;
    header.stamp = time.nanoseconds();
    header.sequence = 0;
    return header.frame_id.assign(frame) || reader.fail(CdrError::TooLong);
  }
};

}  // namespace cardan

CARDAN_STANDARD_MESSAGE_(cardan::Header, "std_msgs/msg/Header", stamp, sequence, frame_id);
