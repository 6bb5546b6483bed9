// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <opencv2/core/mat.hpp>
#include <string>

#include "demo/sensors/recorded_folder.hpp"
#include "demo/sensors/timeline.hpp"

namespace cardan::street {

/// A folder of pictures, played again and again by its timestamps.txt, or without one at 10 Hz. Not thread-safe.
class PictureFolder {
 public:
  /// Throws Error as read_recorded_folder(), and InvalidArgument when the first picture cannot be decoded.
  PictureFolder(const std::string& argument, const Beside& beside);

  /// For people: "image_02, 108 pictures, 1242 x 375 at 9.7 fps, looped, in step with the scans".
  [[nodiscard]] const std::string& describe() const noexcept { return name_; }
  [[nodiscard]] cv::Size size() const noexcept { return size_; }

  /// Decodes the next picture and blocks until it is due; false once `stopping` says so. Throws Error (Unavailable)
  /// when it cannot be decoded, or is of another size.
  bool wait(const std::function<bool()>& stopping);
  /// That picture, 8-bit BGR. Valid until the next wait().
  [[nodiscard]] const cv::Mat& picture() const noexcept { return picture_; }
  /// When it was due: wall clock, ns. Pictures and scans that keep step are as far apart as in the recording.
  [[nodiscard]] std::int64_t stamp() const noexcept { return stamp_; }

 private:
  RecordedFolder folder_;
  Timeline timeline_;
  std::string name_;
  cv::Size size_;
  cv::Mat picture_;
  std::int64_t stamp_ = 0;
};

}  // namespace cardan::street
