// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "src/bridge/outgoing_topic.hpp"

namespace cardan::bridge::foxglove {

/// A message's header, over its bytes.
struct HeaderView {
  std::int32_t sec = 0;
  std::uint32_t nanosec = 0;
  std::string_view frame_id{};
};

/// A sensor_msgs/msg/Image over its bytes. Its numbers are as the publisher wrote them: nothing is checked.
struct ImageView {
  HeaderView header{};
  std::uint32_t height = 0, width = 0, step = 0;
  std::string_view encoding{};
  bool big_endian = false;
  std::span<const std::byte> data{};
};

/// A sensor_msgs/msg/PointCloud2, likewise.
struct CloudView {
  struct Field {
    std::string_view name{};
    std::uint32_t offset = 0;
    std::uint8_t type = 0;  ///< as PointField::Type
    std::uint32_t count = 0;
  };
  HeaderView header{};
  std::uint32_t height = 0, width = 0, point_step = 0, row_step = 0;
  std::vector<Field> fields{};
  bool big_endian = false;
  std::span<const std::byte> data{};
};

/// Empty: the bytes are not of this type. Valid as long as the frame. Any thread; does not block.
[[nodiscard]] std::optional<ImageView> image_view(const OutgoingFrame& frame);
[[nodiscard]] std::optional<CloudView> cloud_view(const OutgoingFrame& frame);

}  // namespace cardan::bridge::foxglove
