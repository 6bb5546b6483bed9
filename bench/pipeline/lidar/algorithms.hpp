// SPDX-License-Identifier: Apache-2.0
// The stages' work with PCL. Only algorithms.cpp includes PCL, which takes the compiler 20 s.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "bench/pipeline/lidar/messages.hpp"

namespace cardan::bench::perception::lidar {

/// Range, voxel and ground filter. Not thread safe.
class Preprocessor {
 public:
  static constexpr float kNearest = 2.5F, kFarthest = 60.0F;  ///< m; nearer is the vehicle itself
  static constexpr float kVoxel = 0.25F;                      ///< m, of a side

  Preprocessor();
  ~Preprocessor();
  Preprocessor(const Preprocessor&) = delete;
  Preprocessor& operator=(const Preprocessor&) = delete;

  /// At most `most` points: voxels grow until they fit. Returns them with those of the ground first; valid until the
  /// next call. Points that are not finite are skipped.
  std::span<const CloudPoint> filter(std::span<const CloudPoint> scan, std::size_t most);
  /// How many of the last are the ground: the level plane with the most points.
  [[nodiscard]] std::size_t ground() const noexcept { return ground_; }

 private:
  struct Work;
  std::unique_ptr<Work> work_;
  std::vector<CloudPoint> points_;
  std::size_t ground_ = 0;
};

/// The normal distributions transform against a map of the last places. Not thread safe.
class Localizer {
 public:
  Localizer();
  ~Localizer();
  Localizer(const Localizer&) = delete;
  Localizer& operator=(const Localizer&) = delete;

  /// The pose of a scan, `seconds` after the first one; of the first it is the origin. It expects the vehicle to
  /// continue as before.
  [[nodiscard]] Pose locate(std::span<const CloudPoint> points, double seconds);

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

/// Euclidean clusters. Not thread safe.
class Clusters {
 public:
  Clusters();
  ~Clusters();
  Clusters(const Clusters&) = delete;
  Clusters& operator=(const Clusters&) = delete;

  /// Returns the boxes around points above the ground, the nearest first, at most Obstacles::kMost.
  std::span<const ObstacleBox> find(std::span<const CloudPoint> points);

 private:
  struct Work;
  std::unique_ptr<Work> work_;
  std::vector<ObstacleBox> boxes_;
};

}  // namespace cardan::bench::perception::lidar
