// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <cstddef>
#include <cstdint>

#include "cardan/messages/geometry.hpp"
#include "cardan/point_cloud.hpp"

/// \file
/// Optional: needs Eigen. No other header of Cardan includes it.

namespace cardan {

/// x, y, z of all points, one column for each point, over shared memory.
using ConstPointMap = Eigen::Map<const Eigen::Matrix<float, 3, Eigen::Dynamic>, Eigen::Unaligned, Eigen::OuterStride<>>;
/// The same, writable.
using PointMap = Eigen::Map<Eigen::Matrix<float, 3, Eigen::Dynamic>, Eigen::Unaligned, Eigen::OuterStride<>>;

namespace detail {
// The index of the float x in a point. -1 unless x, y, z are three consecutive floats at a multiple of the float size,
// without gaps between rows.
[[nodiscard]] inline std::int64_t xyz_offset(const PointCloud& cloud) noexcept {
  const std::int64_t x = cloud.float_offset("x");
  const bool ok = x >= 0 && x % 4 == 0 && cloud.float_offset("y") == x + 4 && cloud.float_offset("z") == x + 8 &&
                  cloud.point_step % 4 == 0 && cloud.row_step == std::uint64_t{cloud.width} * cloud.point_step &&
                  cloud.valid() && reinterpret_cast<std::uintptr_t>(cloud.data.data()) % 4 == 0;
  return ok ? x / 4 : -1;
}
}  // namespace detail

/// The positions of all points as a 3 × n matrix over shared memory, without a copy. Works with every cloud that has x,
/// y, z as consecutive floats (PCL's layouts, and those of most drivers). Without these, the matrix has no columns.
/// Thread safety: as the message's. Never blocks or throws.
[[nodiscard]] inline ConstPointMap eigen_map(const PointCloud& cloud) noexcept {
  const std::int64_t x = detail::xyz_offset(cloud);
  if (x < 0) return {nullptr, 3, 0, Eigen::OuterStride<>(3)};
  return {reinterpret_cast<const float*>(cloud.data.data()) + x, 3,
          static_cast<Eigen::Index>(std::size_t{cloud.height} * cloud.width),
          Eigen::OuterStride<>(cloud.point_step / 4)};
}

/// The same, writable, for a loan.
[[nodiscard]] inline PointMap eigen_map(PointCloud& cloud) noexcept {
  const std::int64_t x = detail::xyz_offset(cloud);
  if (x < 0) return {nullptr, 3, 0, Eigen::OuterStride<>(3)};
  return {reinterpret_cast<float*>(cloud.data.data()) + x, 3,
          static_cast<Eigen::Index>(std::size_t{cloud.height} * cloud.width),
          Eigen::OuterStride<>(cloud.point_step / 4)};
}

/// The same place for Eigen: takes coordinates in the child frame to the parent frame.
/// Any thread; never blocks or throws.
[[nodiscard]] inline Eigen::Isometry3d to_eigen(const Transform& t) noexcept {
  Eigen::Isometry3d all = Eigen::Isometry3d::Identity();
  all.linear() = Eigen::Quaterniond(t.rotation.w, t.rotation.x, t.rotation.y, t.rotation.z).toRotationMatrix();
  all.translation() << t.translation.x, t.translation.y, t.translation.z;
  return all;
}

/// The inverse of to_eigen().
[[nodiscard]] inline Transform from_eigen(const Eigen::Isometry3d& t) noexcept {
  const Eigen::Quaterniond q(t.linear());
  return {.translation = {t.translation().x(), t.translation().y(), t.translation().z()},
          .rotation = {q.x(), q.y(), q.z(), q.w()}};
}

}  // namespace cardan
