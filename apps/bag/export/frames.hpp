// SPDX-License-Identifier: Apache-2.0
// The common part of the outputs of images and clouds: the cells of their tables.
#pragma once

#include <string>
#include <vector>

#include "apps/bag/export/ros_views.hpp"
#include "cardan/mcap/records.hpp"

namespace cardan::apps {

/// The table of a topic's frames: their times, their header, what else is worth a column, and where they are.
using Cells = std::vector<std::string>;

[[nodiscard]] inline Cells frame_columns(const Cells& own, const char* where) {
  Cells all{"log_time", "publish_time", "header.stamp.sec", "header.stamp.nanosec", "header.frame_id"};
  all.insert(all.end(), own.begin(), own.end());
  all.emplace_back(where);
  return all;
}

/// Without the last cell. `message` without its data.
[[nodiscard]] inline Cells frame_cells(const mcap::Message& message, const HeaderView& header, const Cells& own) {
  Cells all{std::to_string(message.log_time), std::to_string(message.publish_time), std::to_string(header.seconds),
            std::to_string(header.nanoseconds), std::string(header.frame_id)};
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

// The cells that each type adds to the table.
[[nodiscard]] inline Cells own_columns(const ImageView&) { return {"height", "width", "encoding"}; }
[[nodiscard]] inline Cells own_columns(const CompressedImageView&) { return {"format"}; }
[[nodiscard]] inline Cells own_columns(const CloudView&) { return {"height", "width", "is_dense"}; }
[[nodiscard]] inline Cells own_cells(const ImageView& m) {
  return {std::to_string(m.image.height), std::to_string(m.image.width), std::string(m.image.encoding)};
}
[[nodiscard]] inline Cells own_cells(const CompressedImageView& m) { return {std::string(m.format)}; }
[[nodiscard]] inline Cells own_cells(const CloudView& m) {
  return {std::to_string(m.height), std::to_string(m.width), m.is_dense ? "true" : "false"};
}

/// Why a message cannot be read, without the byte, so that many have the same cause.
[[nodiscard]] inline std::string cause_of(const CdrResult& result) {
  return result.error == CdrError::Encoding ? "it is not in plain XCDR1, as ROS 2 writes messages"
                                            : "its bytes do not fit its type";
}

}  // namespace cardan::apps
