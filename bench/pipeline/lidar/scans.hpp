// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/pipeline/lidar/messages.hpp"
#include "bench/pipeline/stages.hpp"

namespace cardan::bench::perception::lidar {

/// The scans of the LiDAR, decoded before the run: a sensor makes them without the CPU. They are played forwards, then
/// backwards, so that the vehicle never jumps.
class Scans {
 public:
  static constexpr std::size_t kMostBytes = 256U << 20U;  ///< of all scans

  /// A recording, a capture of a Velodyne, a folder of KITTI scans or, if nothing is given, the simulated street, whose
  /// scans are 1 / `rate_hz` apart. At most `most` of them. Throws cardan::Error (InvalidArgument, Unavailable).
  Scans(const StageInputs& inputs, std::size_t most, double rate_hz);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::size_t count() const noexcept { return scans_.size(); }
  [[nodiscard]] std::size_t most_points() const noexcept { return most_points_; }
  /// Of frame `number`, from 1.
  [[nodiscard]] std::span<const CloudPoint> at(std::uint64_t number) const noexcept;

 private:
  void record(const std::string& file, const std::string& topic, std::size_t most);
  void capture(const std::string& file, std::size_t most);
  void folder(const std::string& folder, std::size_t most);
  void simulate(std::size_t most, double rate_hz);
  /// False: there are enough.
  bool add(std::vector<CloudPoint> scan, std::size_t most);

  std::string name_;
  std::vector<std::vector<CloudPoint>> scans_;
  std::size_t most_points_ = 0, bytes_ = 0;
};

}  // namespace cardan::bench::perception::lidar
