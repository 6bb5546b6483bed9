// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "cardan/system/launcher/child_process.hpp"
#include "demo/sensors/camera_source.hpp"
#include "demo/sensors/lidar_source.hpp"

namespace cardan::street {

/// Pictures that a Python process decodes through OpenCV and writes into a pipe (python/cardan/opencv.py), for builds
/// that do not link OpenCV, such as the wheel. Its process ends with this object.
class PythonCamera final : public CameraSource {
 public:
  /// `interpreter`: a path, or a name in PATH. Blocks until the first picture is decoded, 30 s at most. Throws
  /// cardan::Error (Unavailable) with what the process said: it has no package cardan or cv2, or the source is none.
  PythonCamera(const std::string& interpreter, const std::string& argument);

  [[nodiscard]] std::string describe() const override { return name_; }
  [[nodiscard]] int width() const noexcept override { return width_; }
  [[nodiscard]] int height() const noexcept override { return height_; }
  bool wait(const std::function<bool()>& stopping) override;
  void read(std::span<std::uint8_t> into) override;

 private:
  /// Waits until the pipe has something, or its end, `milliseconds` at most.
  [[nodiscard]] bool readable(int milliseconds) const;
  /// Some bytes of the pipe; 0: none at the moment. Throws Error: it has ended.
  std::size_t take(std::span<char> into);
  [[nodiscard]] std::string head();
  [[noreturn]] void ended();

  std::string argument_, name_;
  launcher::ChildProcess child_;
  bool file_ = false;
  int width_ = 0, height_ = 0;
  std::chrono::nanoseconds period_{};
  Pace pace_;
};

}  // namespace cardan::street
