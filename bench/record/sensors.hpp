// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace cardan::bench::recording {

/// Sensors of one kind, which share a topic as in SPEED's Fig. 8 and 9.
struct SensorGroup {
  std::string topic{};
  std::uint32_t count = 1;    ///< publishers on the topic
  std::size_t bytes = 0;      ///< of a message
  double rate_hz = 0;         ///< of each
  std::uint32_t depth = 4;    ///< of the Cardan topic: what a reader may be late by
  std::uint32_t readers = 0;  ///< that must be attached to each publisher before a run begins

  [[nodiscard]] double bytes_per_second() const noexcept {
    return static_cast<double>(count) * static_cast<double>(bytes) * rate_hz;
  }
  bool operator==(const SensorGroup&) const = default;
};

using Sensors = std::vector<SensorGroup>;

inline constexpr std::size_t kCameraBytes = 5'529'600;  ///< SPEED's Table II: 1280 × 960, HDR, 36 Hz
inline constexpr double kCameraHz = 36;

/// This many cameras that publish on one topic (SPEED's Fig. 8).
[[nodiscard]] Sensors cameras(std::uint32_t count);
/// Cameras with all other sensors of SPEED's Table II in the numbers of its Fig. 9, one topic for each kind: 1 main
/// LiDAR, 4 secondary ones, 5 radars, 1 GPS, 1 IMU, 12 ultrasonic sensors.
[[nodiscard]] Sensors all_sensors(std::uint32_t camera_count);
/// For SPEED's Fig. 11: the pipeline's input, a front camera, a LiDAR, GPS and IMU at their rates, and this many
/// cameras that are only recorded (last).
[[nodiscard]] Sensors pipeline_sensors(std::uint32_t camera_count);

[[nodiscard]] double bytes_per_second(const Sensors& sensors) noexcept;
/// Messages that they make in this time.
[[nodiscard]] std::uint64_t messages_in(const Sensors& sensors, double seconds) noexcept;
/// Messages of one sensor of the group in this time: at least one.
[[nodiscard]] std::uint64_t messages_in(const SensorGroup& group, double seconds) noexcept;

/// For the processes of a run.
[[nodiscard]] nlohmann::json to_json(const Sensors& sensors);
[[nodiscard]] Sensors sensors_of(const nlohmann::json& json);

}  // namespace cardan::bench::recording
