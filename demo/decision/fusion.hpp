// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "demo/decision/obstacles.hpp"
#include "demo/seen.hpp"

namespace cardan::street {

/// Brake or go, and why in a sentence.
struct Verdict {
  bool brake = true;
  float distance = 0;  ///< m to what it is about; the free path ahead when it says go
  std::array<char, 96> reason{};

  [[nodiscard]] std::string_view text() const noexcept { return reason.data(); }
};

/// The car and its motion, for the distance that it needs to stop.
struct Car {
  float speed = 8.3F;         ///< m/s (30 km/h)
  float reaction = 0.5F;      ///< s, before the brakes bite
  float deceleration = 6.0F;  ///< m/s², dry road
  float half_width = 1.2F;    ///< m, of the path that must be free
  float camera_fov = 1.2F;    ///< rad, horizontal; the camera looks straight ahead

  [[nodiscard]] float stopping_distance() const noexcept {
    return speed * reaction + speed * speed / (2 * deceleration);
  }
};

/// Fuses what the camera saw last with the newest obstacles of the LiDAR. An obstacle in the path within the stopping
/// distance means brake; a pedestrian whom both see is given nearly twice the distance and 1 m more to each side; one
/// that the camera alone sees counts at the distance that the box's height suggests. Vehicles that the camera sees give
/// an obstacle in their direction its name. Without fresh data from either sensor: brake. Not thread-safe; allocates
/// only when more things are seen than ever before.
class Fusion {
 public:
  static constexpr std::int64_t kStale = 1'000'000'000;  ///< ns

  explicit Fusion(const Car& car = {}) : car_(car) {}

  /// `now`: steady clock, ns, when the data came in.
  void see_picture(std::span<const Seen> seen, float width, std::int64_t now);
  void see_obstacles(std::span<const Obstacle> obstacles, std::int64_t now);
  [[nodiscard]] Verdict decide(std::int64_t now) const noexcept;

 private:
  struct Sighting {
    float bearing;           // rad, to the left
    float distance;          // m, estimated; of people alone
    std::string_view label;  // a static text
  };
  [[nodiscard]] const Sighting* in_direction_of(const Obstacle& obstacle, std::span<const Sighting> of) const noexcept;

  Car car_;
  std::vector<Sighting> people_, vehicles_;
  std::vector<Obstacle> obstacles_;
  std::int64_t picture_time_ = 0, obstacles_time_ = 0;  // 0: never
};

}  // namespace cardan::street
