// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "examples/street/point.hpp"

namespace cardan::street {

/// The `velodyne_points/data` (or `velodyne`) folder of a KITTI drive: one .bin file of x, y, z, reflectance floats a
/// scan.
class KittiFolder {
 public:
  static constexpr std::size_t kMaxPoints = 200'000;  ///< an HDL-64E scan has about 120,000

  /// Throws cardan::Error: Unavailable when the folder cannot be read, InvalidArgument when there is no .bin in it or
  /// one is no KITTI scan (its size is no multiple of 16 bytes, or it has more than kMaxPoints).
  explicit KittiFolder(const std::filesystem::path& folder);

  [[nodiscard]] std::size_t scans() const noexcept { return files_.size(); }

  /// Points of scan `index % scans()`, from the size that its file had.
  [[nodiscard]] std::size_t points(std::size_t index) const noexcept { return points_[index % points_.size()]; }

  /// Reads scan `index % scans()` into `out` and returns the number of points; what does not fit is left out.
  /// Throws cardan::Error (Unavailable) when the file has gone. Not thread-safe; reads the disk.
  std::size_t read(std::size_t index, std::span<Point> out);

 private:
  std::vector<std::filesystem::path> files_;
  std::vector<std::size_t> points_;
  std::vector<float> buffer_;
};

}  // namespace cardan::street
