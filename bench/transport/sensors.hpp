// SPDX-License-Identifier: Apache-2.0
// The sensors whose messages the papers measure. A further one is a line of this table.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace cardan::bench {

struct Sensor {
  std::string_view name;  ///< of at most 15 characters
  std::size_t bytes;      ///< of a message
  double rate_hz;
};

inline constexpr std::size_t kBytesOfPoint = 16;  // x, y, z and intensity as floats

inline constexpr std::array kSensors{
    // "Oops! It's Too Late", section IV: inertial unit, camera vision, LiDAR of low and of high resolution, radar.
    Sensor{"imu", 1'000, 200},
    Sensor{"cv", 4'000'000, 50},
    Sensor{"lidar-low", 4'000'000, 20},
    Sensor{"lidar-high", 8'000'000, 20},
    Sensor{"radar", 10'000, 20},
    // "SIM", section IV: two cameras and two LiDARs.
    Sensor{"camera-vga", std::size_t{640} * 480 * 3, 30},
    Sensor{"camera-full", std::size_t{1920} * 1200 * 3, 42},
    Sensor{"points-2160", 2'160 * kBytesOfPoint, 20},
    Sensor{"points-115200", 115'200 * kBytesOfPoint, 10},
};

/// "imu,cv,…", all of them.
std::string names_of_sensors();
/// Null: nothing has that name.
const Sensor* find_sensor(std::string_view name) noexcept;

}  // namespace cardan::bench
