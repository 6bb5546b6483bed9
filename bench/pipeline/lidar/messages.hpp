// SPDX-License-Identifier: Apache-2.0
// The messages of the links of the LiDAR's pipeline. Each message has the number of its scan in the first and in the
// last word, so that is_intact() (bench/pipeline/messages.hpp) says whether it changed under its reader's hands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

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

/// Of a cloud, in its message.
struct CloudHead {
  std::uint64_t number = 0;
  std::uint32_t points = 0;
  std::uint32_t ground = 0;  ///< how many of them, at the beginning, are the ground
  Pose pose{};
};
static_assert(sizeof(CloudHead) % sizeof(std::uint64_t) == 0);

struct Cloud {
  CloudHead head{};
  const CloudPoint* points = nullptr;
  [[nodiscard]] std::span<const CloudPoint> all() const noexcept { return {points, head.points}; }
  [[nodiscard]] std::span<const CloudPoint> obstacles() const noexcept { return all().subspan(head.ground); }
};

/// The size of a message with this number of points.
[[nodiscard]] constexpr std::size_t cloud_bytes(std::size_t points) noexcept {
  return sizeof(CloudHead) + points * sizeof(CloudPoint) + sizeof(std::uint64_t);
}
[[nodiscard]] constexpr std::size_t points_that_fit(std::size_t bytes) noexcept {
  return bytes < cloud_bytes(0) ? 0 : (bytes - cloud_bytes(0)) / sizeof(CloudPoint);
}

/// The room for a cloud's points; empty: they do not fit. The message is whole after sign().
[[nodiscard]] inline std::span<CloudPoint> begin_cloud(std::span<std::uint64_t> words, const CloudHead& head) noexcept {
  if (words.size_bytes() < cloud_bytes(head.points)) return {};
  std::memcpy(words.data(), &head, sizeof head);
  return {reinterpret_cast<CloudPoint*>(words.data() + sizeof head / sizeof(std::uint64_t)), head.points};
}
/// Empty: it holds no cloud. Never reads beyond `words`, whatever they hold.
[[nodiscard]] inline std::optional<Cloud> cloud_of(std::span<const std::uint64_t> words) noexcept {
  if (words.size_bytes() < cloud_bytes(0)) return std::nullopt;
  Cloud cloud;
  std::memcpy(static_cast<void*>(&cloud.head), words.data(), sizeof cloud.head);
  if (cloud.head.points > points_that_fit(words.size_bytes()) || cloud.head.ground > cloud.head.points)
    return std::nullopt;
  cloud.points = reinterpret_cast<const CloudPoint*>(words.data() + sizeof cloud.head / sizeof(std::uint64_t));
  return cloud;
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
  [[nodiscard]] bool valid() const noexcept { return count <= kMost; }
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
  [[nodiscard]] bool valid() const noexcept { return has <= 1; }
};

/// The size of a message that holds a T.
template <class T>
inline constexpr std::size_t kMessageBytes = (sizeof(T) + 7) / 8 * 8 + sizeof(std::uint64_t);

/// Writes the message; sign() completes it. Returns false if it does not fit.
template <class T>
[[nodiscard]] bool put(std::span<std::uint64_t> words, const T& message) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  if (words.size_bytes() < kMessageBytes<T>) return false;
  std::memcpy(words.data(), &message, sizeof message);
  return true;
}
template <class T>
[[nodiscard]] std::optional<T> get(std::span<const std::uint64_t> words) noexcept {
  if (words.size_bytes() < kMessageBytes<T>) return std::nullopt;
  T message;
  std::memcpy(static_cast<void*>(&message), words.data(), sizeof message);
  return message.valid() ? std::optional(message) : std::nullopt;
}

}  // namespace cardan::bench::perception::lidar
