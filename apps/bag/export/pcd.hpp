// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/bag/export/ros_views.hpp"

namespace cardan::apps {

/// Fills `out` with the cloud as a PCD file: version 0.7, binary, little-endian; every field with its name and type, in
/// the message's order, side by side without the gaps that the message may have. Source: the PCD file format
/// (pointclouds.org/documentation/tutorials/pcd_file_format.html). Empty: done; else why not. Throws std::bad_alloc.
/// Any thread; never blocks.
[[nodiscard]] std::string pcd_of(const CloudView& cloud, std::vector<std::byte>& out);

}  // namespace cardan::apps
