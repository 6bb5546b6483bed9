// SPDX-License-Identifier: Apache-2.0
// The messages of the links of the LiDAR's pipeline.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/pipeline/messages.hpp"

namespace cardan::bench::perception::lidar {

/// In the layout of pcl::PointXYZ, with any alignment.
struct CloudPoint {
  float x = 0, y = 0, z = 0;  ///< m, REP-103
  float one = 1;
};
static_assert(sizeof(CloudPoint) == 16);

inline constexpr std::size_t kMostPoints = 1U << 20U;  ///< of a scan

/// Where the vehicle is in the frame of the first scan.
struct Pose {
  double x = 0, y = 0, z = 0;           ///< m
  double roll = 0, pitch = 0, yaw = 0;  ///< rad
  double speed = 0;                     ///< m/s, along x of the vehicle
  std::uint64_t converged = 0;          ///< 1: the scan matching found it
};

/// A cloud; its points follow this head.
struct CloudHead {
  std::uint64_t number = 0;
  std::uint32_t points = 0;
  std::uint32_t ground = 0;  ///< how many of them, at the beginning, are the ground
  Pose pose{};

  [[nodiscard]] bool valid(std::size_t bytes) const noexcept {
    return ground <= points && message_bytes<CloudHead>(points * sizeof(CloudPoint)) <= bytes;
  }
};
static_assert(sizeof(CloudHead) % sizeof(CloudPoint) == 0);

/// The size of a message with this number of points.
[[nodiscard]] constexpr std::size_t cloud_bytes(std::size_t points) noexcept {
  return message_bytes<CloudHead>(points * sizeof(CloudPoint));
}
[[nodiscard]] constexpr std::size_t points_that_fit(std::size_t bytes) noexcept {
  return bytes < cloud_bytes(0) ? 0 : (bytes - cloud_bytes(0)) / sizeof(CloudPoint);
}
/// Returns false if the points do not fit.
[[nodiscard]] inline bool put_cloud(Room room, CloudHead head, std::span<const CloudPoint> points) noexcept {
  head.points = static_cast<std::uint32_t>(points.size());
  std::byte* const to = put(room, head, points.size_bytes());
  if (to != nullptr && !points.empty()) std::memcpy(to, points.data(), points.size_bytes());
  return to != nullptr;
}
[[nodiscard]] inline std::span<const CloudPoint> points_of(Words words, const CloudHead& head) noexcept {
  return {reinterpret_cast<const CloudPoint*>(after<CloudHead>(words)), head.points};
}

/// An upright box in the vehicle's frame, m.
struct ObstacleBox {
  float x0 = 0, x1 = 0, y0 = 0, y1 = 0, z0 = 0, z1 = 0;
};

struct Obstacles {
  static constexpr std::size_t kMost = 64;
  std::uint64_t number = 0;
  std::uint64_t count = 0;
  Pose pose{};
  std::array<ObstacleBox, kMost> boxes{};  ///< the nearest first
  [[nodiscard]] std::span<const ObstacleBox> found() const noexcept { return std::span(boxes).first(count); }
  [[nodiscard]] bool valid(std::size_t /*bytes*/) const noexcept { return count <= kMost; }
};

struct PathPoint {
  float x = 0, y = 0;  ///< m, in the vehicle's frame
};

struct Plan {
  static constexpr std::size_t kPoints = 50;
  std::uint64_t number = 0;
  double speed = 0;       ///< m/s, now
  double offset = 0;      ///< m, to the left of the way straight ahead
  double free_path = 0;   ///< m, to the first obstacle on it
  std::uint64_t has = 0;  ///< 1: a path
  std::array<PathPoint, kPoints> path{};
  [[nodiscard]] bool valid(std::size_t /*bytes*/) const noexcept { return has <= 1; }
};

}  // namespace cardan::bench::perception::lidar
