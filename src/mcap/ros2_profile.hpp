// SPDX-License-Identifier: Apache-2.0
// The profile "ros2" of a file: readers of ROS 2 recordings refuse files that do not name it. Any thread; nothing
// blocks.
#pragma once

#include <string>

#include "cardan/mcap/codec.hpp"
#include "cardan/mcap/records.hpp"

namespace cardan::mcap {

inline constexpr const char* kRos2Profile = "ros2";

/// Whether the profile allows the channel: CDR, with a schema in one of ROS 2's two languages.
[[nodiscard]] inline bool as_ros2_writes(const Channel& channel, const Schema& schema) {
  return channel.message_encoding == "cdr" && (schema.encoding == "ros2msg" || schema.encoding == "ros2idl");
}

/// A file's header, of the same length with the profile and without it: only at the end is it known which of the two is
/// true, and then the header is written again in its place.
inline void append_header(Bytes& out, bool ros2, const std::string& library) {
  const std::string profile = ros2 ? kRos2Profile : "";
  const Bytes rest(std::string(kRos2Profile).size() -
                   profile.size());  // which the specification lets follow the fields
  append(out, Header{.profile = profile, .library = library}, rest);
}

}  // namespace cardan::mcap
