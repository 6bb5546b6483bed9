// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "demo/decision/obstacles.hpp"

namespace cardan::street {

/// The five parts, in the order in which they are started and shown: components of street.json, and processes of the
/// comparison over Unix sockets.
enum class Role : std::uint8_t { Camera, Lidar, Detector, Obstacles, Decision };
inline constexpr std::size_t kRoles = 5;
inline constexpr std::array<std::string_view, kRoles> kRoleNames = {"camera", "lidar", "detector", "obstacles",
                                                                    "decision"};

[[nodiscard]] constexpr std::string_view name_of(Role role) { return kRoleNames[static_cast<std::size_t>(role)]; }
[[nodiscard]] constexpr std::optional<Role> role_named(std::string_view name) {
  for (std::size_t i = 0; i < kRoles; ++i) {
    if (kRoleNames[i] == name) return static_cast<Role>(i);
  }
  return std::nullopt;
}

/// The topics that somebody reads, each from one part to one other.
struct Hop {
  const char* topic;
  Role from, to;
};
inline constexpr std::size_t kHops = 4;
inline constexpr std::array<Hop, kHops> kHopList = {{
    {"/street/camera/image", Role::Camera, Role::Detector},
    {"/street/lidar/points", Role::Lidar, Role::Obstacles},
    {"/street/camera/objects", Role::Detector, Role::Decision},
    {"/street/lidar/obstacles", Role::Obstacles, Role::Decision},
}};
enum HopIndex : std::uint8_t { kImageHop, kCloudHop, kSeenHop, kObstaclesHop };

/// How the five run.
enum class Setup : std::uint8_t { FiveProcesses, WithoutPriorities, OneProcess, UnixSockets };
inline constexpr std::size_t kSetups = 4;
[[nodiscard]] constexpr std::string_view name_of(Setup setup) {
  constexpr std::array<std::string_view, kSetups> names = {"Cardan, five processes",
                                                           "Cardan, five processes without priorities",
                                                           "Cardan, one process", "Unix sockets, five processes"};
  return names[static_cast<std::size_t>(setup)];
}

[[nodiscard]] constexpr std::string_view short_name_of(Setup setup) {
  constexpr std::array<std::string_view, kSetups> names = {"five processes", "no priorities", "one process",
                                                           "Unix sockets"};
  return names[static_cast<std::size_t>(setup)];
}

/// The (hidden) command line of a process of the comparison.
struct RoleOptions {
  Role role{};
  std::string camera, lidar, detector;
  OwnVehicle own;
  std::int64_t origin = 0;    ///< as Beside::origin
  int priority = 0;           ///< SCHED_FIFO; 0: an ordinary thread
  int nice = 0;               ///< of that, or where FIFO is refused
  std::string socket_folder;  ///< where the Unix sockets are
  float image_width = 0;      ///< pixels; what a calibration file would tell the decision process
  int note_fd = -1;           ///< see note.hpp; -1: nobody listens
};

/// Runs one of the five over Unix sockets until a signal or the end of its parent; the exit code of the process.
int run_role(const RoleOptions& options);

}  // namespace cardan::street
