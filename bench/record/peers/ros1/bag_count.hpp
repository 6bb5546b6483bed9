// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace cardan::bench::recording {

/// Messages in a bag of ROS 1 (format 2.0), by the index at its end. Throws Error: it is not a bag, or was not closed.
/// Source: the format's description, wiki.ros.org/Bags/Format/2.0. Any thread; blocks for the disk.
[[nodiscard]] std::uint64_t count_bag_messages(const std::string& path);

}  // namespace cardan::bench::recording
