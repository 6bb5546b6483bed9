// SPDX-License-Identifier: Apache-2.0
// The messages with large payloads as they lie in a recording: nothing is copied, nothing is believed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "apps/bag/export/images.hpp"
#include "cardan/cdr_reader.hpp"

namespace cardan::apps {

/// std_msgs/msg/Header
struct HeaderView {
  std::int32_t seconds = 0;
  std::uint32_t nanoseconds = 0;
  std::string_view frame_id{};
};

/// sensor_msgs/msg/Image
struct ImageView {
  HeaderView header{};
  RawImage image{};
};

/// sensor_msgs/msg/CompressedImage
struct CompressedImageView {
  HeaderView header{};
  std::string_view format{};
  std::span<const std::byte> data{};
};

/// sensor_msgs/msg/PointField
struct CloudField {
  std::string_view name{};
  std::uint32_t offset = 0;   ///< bytes
  std::uint8_t datatype = 0;  ///< as PointField::Type
  std::uint32_t count = 0;    ///< numbers; drivers that mean 1 say 0, too
};

/// sensor_msgs/msg/PointCloud2
struct CloudView {
  HeaderView header{};
  std::uint32_t height = 0, width = 0;
  std::vector<CloudField> fields{};
  bool is_bigendian = false;
  std::uint32_t point_step = 0, row_step = 0;  ///< bytes
  std::span<const std::byte> data{};
  bool is_dense = false;
};

/// They fill `out`, which is valid as long as `cdr`; false with the reason: the bytes are not such a message (XCDR1
/// little-endian, as ROS 2 writes it). Thread safety: none. Never block.
[[nodiscard]] CdrResult read_message(std::span<const std::byte> cdr, ImageView& out);
[[nodiscard]] CdrResult read_message(std::span<const std::byte> cdr, CompressedImageView& out);
[[nodiscard]] CdrResult read_message(std::span<const std::byte> cdr, CloudView& out);

}  // namespace cardan::apps
