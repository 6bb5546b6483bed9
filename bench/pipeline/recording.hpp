// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace cardan::bench::perception {

/// Reads the messages of one topic of a recording (MCAP, messages as CDR) in the order of their time, until `use`
/// returns false. `type`: "sensor_msgs/msg/PointCloud2". `topic`: empty: the only one of that type. Throws
/// cardan::Error (InvalidArgument): there is no such file or topic, or it has another type. Blocks for the disk.
void read_recording(const std::string& file, const std::string& topic, std::string_view type,
                    const std::function<bool(std::span<const std::byte>)>& use);

}  // namespace cardan::bench::perception
