// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <opencv2/videoio.hpp>
#include <string>

#include "demo/sensors/camera_source.hpp"
#include "demo/sensors/lidar_source.hpp"
#include "demo/sensors/picture_folder.hpp"

namespace cardan::street {

/// A camera or video that OpenCV reads; see open_video().
class VideoCamera final : public CameraSource {
 public:
  explicit VideoCamera(const std::string& argument, const Beside& beside = {});

  [[nodiscard]] std::string describe() const override { return name_; }
  [[nodiscard]] int width() const noexcept override { return width_; }
  [[nodiscard]] int height() const noexcept override { return height_; }
  bool wait(const std::function<bool()>& stopping) override;
  void read(std::span<std::uint8_t> into) override;
  [[nodiscard]] std::int64_t stamp() const noexcept override;

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
