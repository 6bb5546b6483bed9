// SPDX-License-Identifier: Apache-2.0
#include "bench/record/sensors.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace cardan::bench::recording {
namespace {

// Depths let a reader be late by a tenth of a second; that is one or two slots of a camera.
SensorGroup camera_group(std::uint32_t count) {
  return {.topic = "/sensor/camera", .count = count, .bytes = kCameraBytes, .rate_hz = kCameraHz, .depth = 4};
}
SensorGroup main_lidar() {
  return {.topic = "/sensor/lidar_main", .count = 1, .bytes = 640'000, .rate_hz = 25, .depth = 4};
}
SensorGroup gps() { return {.topic = "/sensor/gps", .count = 1, .bytes = 200, .rate_hz = 25, .depth = 16}; }
SensorGroup imu() { return {.topic = "/sensor/imu", .count = 1, .bytes = 400, .rate_hz = 100, .depth = 16}; }

}  // namespace

Sensors cameras(std::uint32_t count) { return {camera_group(count)}; }

Sensors all_sensors(std::uint32_t camera_count) {
  return {camera_group(camera_count),
          main_lidar(),
          {.topic = "/sensor/lidar_secondary", .count = 4, .bytes = 160'000, .rate_hz = 25, .depth = 4},
          {.topic = "/sensor/radar", .count = 5, .bytes = 1600, .rate_hz = 50, .depth = 16},
          gps(),
          imu(),
          {.topic = "/sensor/ultrasonic", .count = 12, .bytes = 150, .rate_hz = 40, .depth = 16}};
}

Sensors pipeline_sensors(std::uint32_t camera_count) {
  SensorGroup front = camera_group(1);
  front.topic = "/sensor/front";
  return {front, main_lidar(), gps(), imu(), camera_group(camera_count)};
}

double bytes_per_second(const Sensors& sensors) noexcept {
  double sum = 0;
  for (const SensorGroup& group : sensors) sum += group.bytes_per_second();
  return sum;
}

std::uint64_t messages_in(const SensorGroup& group, double seconds) noexcept {
  return static_cast<std::uint64_t>(std::max(1.0, std::round(group.rate_hz * seconds)));
}

std::uint64_t messages_in(const Sensors& sensors, double seconds) noexcept {
  std::uint64_t sum = 0;
  for (const SensorGroup& group : sensors) sum += group.count * messages_in(group, seconds);
  return sum;
}

nlohmann::json to_json(const Sensors& sensors) {
  nlohmann::json all = nlohmann::json::array();
  for (const SensorGroup& g : sensors)
    all.push_back({{"topic", g.topic},
                   {"count", g.count},
                   {"bytes", g.bytes},
                   {"rate_hz", g.rate_hz},
                   {"depth", g.depth},
                   {"readers", g.readers}});
  return all;
}

Sensors sensors_of(const nlohmann::json& json) {
  Sensors all;
  for (const auto& g : json)
    all.push_back({.topic = g.at("topic"),
                   .count = g.at("count"),
                   .bytes = g.at("bytes"),
                   .rate_hz = g.at("rate_hz"),
                   .depth = g.at("depth"),
                   .readers = g.at("readers")});
  return all;
}

}  // namespace cardan::bench::recording
