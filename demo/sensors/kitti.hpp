// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "demo/sensors/point.hpp"
#include "demo/sensors/recorded_folder.hpp"

namespace cardan::street {

/// The `velodyne_points` (or its `data`, or `velodyne`) folder of a KITTI drive: one .bin file of x, y, z, reflectance
/// floats a scan.
class KittiFolder {
 public:
  static constexpr std::size_t kMaxPoints = 200'000;  ///< an HDL-64E scan has about 120,000

  /// Throws cardan::Error as read_recorded_folder(), and InvalidArgument when a file is not a KITTI scan (its size is
  /// not a multiple of 16 bytes, or it has more than kMaxPoints).
  explicit KittiFolder(const std::string& argument);

  [[nodiscard]] std::size_t scans() const noexcept { return folder_.files.size(); }
  [[nodiscard]] const RecordedFolder& recorded() const noexcept { return folder_; }

  /// Points of scan `index % scans()`, from the size that its file had.
  [[nodiscard]] std::size_t points(std::size_t index) const noexcept { return points_[index % points_.size()]; }

  /// Reads scan `index % scans()` into `out` and returns the number of points; what does not fit is left out.
  /// Throws cardan::Error (Unavailable) when the file has gone. Not thread-safe; reads the disk.
  std::size_t read(std::size_t index, std::span<Point> out);

 private:
  RecordedFolder folder_;
  std::vector<std::size_t> points_;
  std::vector<float> buffer_;
};

}  // namespace cardan::street
