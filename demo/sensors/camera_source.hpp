// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <opencv2/core/mat.hpp>
#include <opencv2/videoio.hpp>
#include <string>

#include "demo/sensors/lidar_source.hpp"
#include "demo/sensors/picture_folder.hpp"

namespace cardan::street {

/// Pictures from a video file (looped at its own rate), a folder of pictures, a V4L2 device (its number or /dev/videoN)
/// or a URL, through OpenCV. wait() fetches the next picture; read() converts it straight into the caller's memory.
class CameraSource {
 public:
  /// Throws cardan::Error: Unavailable when the file, device or URL cannot be opened, InvalidArgument when it is no
  /// video.
  /// `beside`: of a folder, the scans that it keeps step with.
  explicit CameraSource(const std::string& argument, const Beside& beside = {});

  [[nodiscard]] const std::string& describe() const noexcept { return name_; }
  [[nodiscard]] int width() const noexcept { return width_; }
  [[nodiscard]] int height() const noexcept { return height_; }

  /// Blocks until the next picture is due (and decoded) or has arrived; false once `stopping` says so. Throws
  /// cardan::Error (Unavailable) when a live source ends. Not thread-safe.
  bool wait(const std::function<bool()>& stopping);
  /// Writes that picture into `into`, 8-bit BGR of width() x height(). Throws cardan::Error when the source has changed
  /// its size: the picture does not fit any more.
  void read(cv::Mat& into);
  /// Of that picture: wall clock, ns.
  [[nodiscard]] std::int64_t stamp() const noexcept;

 private:
  void open_file();
  void open_capture();
  bool grab();

  std::string argument_, name_;
  std::unique_ptr<PictureFolder> folder_;
  cv::VideoCapture capture_;
  bool file_ = false;
  int width_ = 0, height_ = 0;
  std::chrono::nanoseconds period_{};
  Pace pace_;
};

}  // namespace cardan::street
