// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "demo/sensors/camera_source.hpp"
#include "demo/sensors/lidar_source.hpp"

namespace cardan::street {

/// Draws a street with houses, a road with a crossing, and walkers. The demo shows it where the street video is
/// missing. Its pictures carry the words DRAWN STREET, their frame_id is kDrawnFrame, and all outputs call it drawn.
/// The same time always gives the same picture.
class DrawnStreet {
 public:
  static constexpr int kWidth = 768, kHeight = 576;  ///< pixels
  static constexpr std::size_t kBytes = std::size_t{kWidth} * kHeight * 3;
  static constexpr int kRateHz = 25;
  static constexpr std::size_t kWalkers = 5;

  DrawnStreet();

  /// Draws the picture at `seconds` of the scene into `out`: BGR, kBytes. Not thread-safe; allocates nothing.
  void draw(double seconds, std::span<std::uint8_t> out) const;

  /// Where a walker is at that time, from head to feet, in pixels; it may be partly outside of the picture. For tests.
  struct Box {
    float x, y, width, height;
  };
  [[nodiscard]] static Box walker(std::size_t index, double seconds) noexcept;

 private:
  std::vector<std::uint8_t> background_;
};

/// The drawn street as a camera, at its rate.
class DrawnCamera final : public CameraSource {
 public:
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] int width() const noexcept override { return DrawnStreet::kWidth; }
  [[nodiscard]] int height() const noexcept override { return DrawnStreet::kHeight; }
  [[nodiscard]] bool drawn() const noexcept override { return true; }
  bool wait(const std::function<bool()>& stopping) override;
  void read(std::span<std::uint8_t> into) override;

 private:
  DrawnStreet street_;
  Pace pace_;
  std::uint64_t pictures_ = 0;
};

}  // namespace cardan::street
