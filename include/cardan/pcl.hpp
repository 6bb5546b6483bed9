// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pcl/point_cloud.h>
#include <pcl/point_types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "cardan/error.hpp"
#include "cardan/point_cloud.hpp"

/// \file
/// Optional: needs PCL. No other header of Cardan includes it.

namespace cardan {

/// Copies the cloud into a `pcl::PointCloud`, which owns a std::vector, so one copy is the minimum. Copies x, y, z and,
/// where both sides have it, intensity, with any offsets and steps. `out` keeps its memory: pass the same one again and
/// nothing is allocated. Throws `cardan::Error` (InvalidArgument) if x, y, z are not floats or the data is too short.
/// Thread safety: as the message's. Never blocks.
template <class PclPoint>
void to_pcl(const PointCloud& cloud, pcl::PointCloud<PclPoint>& out) {
  constexpr bool wants_intensity = requires(PclPoint& p) { p.intensity = 0.0F; };
  const std::int64_t x = cloud.float_offset("x");
  const std::int64_t y = cloud.float_offset("y");
  const std::int64_t z = cloud.float_offset("z");
  const std::int64_t intensity = wants_intensity ? cloud.float_offset("intensity") : -1;
  if (x < 0 || y < 0 || z < 0)
    throw Error(ErrorCode::InvalidArgument, "the point cloud has no x, y and z as 32-bit floats",
                "publish these three fields as FLOAT32");
  if (!cloud.valid())
    throw Error(ErrorCode::InvalidArgument, "the point cloud has less data than its height, width and steps require",
                "check row_step and data of the publisher");
  const std::size_t height = cloud.height;
  const std::size_t width = cloud.width;
  out.header.stamp = static_cast<std::uint64_t>(cloud.header.stamp / 1000);  // PCL counts microseconds
  out.header.seq = static_cast<std::uint32_t>(cloud.header.sequence);
  out.header.frame_id = cloud.header.frame_id.view();
  out.height = cloud.height;
  out.width = cloud.width;
  out.is_dense = cloud.is_dense;
  out.points.resize(height * width);
  if (out.points.empty()) return;  // any height is valid without a width
  const auto load = [](const std::uint8_t* point, std::int64_t offset) {
    float value = 0;
    std::memcpy(&value, point + offset, sizeof value);
    return value;
  };
  for (std::size_t row = 0; row < height; ++row) {
    for (std::size_t column = 0; column < width; ++column) {
      const std::uint8_t* from = cloud.data.data() + row * cloud.row_step + column * cloud.point_step;
      PclPoint& to = out.points[row * width + column];
      to.x = load(from, x);
      to.y = load(from, y);
      to.z = load(from, z);
      if constexpr (wants_intensity) to.intensity = intensity >= 0 ? load(from, intensity) : 0.0F;
    }
  }
}

/// The same, into a new cloud: `to_pcl<pcl::PointXYZI>(*sample)`.
template <class PclPoint>
[[nodiscard]] pcl::PointCloud<PclPoint> to_pcl(const PointCloud& cloud) {
  pcl::PointCloud<PclPoint> out;
  to_pcl(cloud, out);
  return out;
}

}  // namespace cardan
