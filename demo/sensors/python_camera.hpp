// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "demo/sensors/camera_source.hpp"
#include "demo/sensors/lidar_source.hpp"
#include "src/system/launcher/child_process.hpp"

namespace cardan::street {

/// Pictures that a Python process decodes through OpenCV and writes into a pipe (python/cardan/opencv.py), for builds
/// that do not link OpenCV, such as the wheel. Its process ends with this object.
class PythonCamera final : public CameraSource {
 public:
  /// `interpreter`: a path, or a name in PATH. Blocks until the first picture is decoded, 30 s at most. Throws
  /// cardan::Error (Unavailable): the source is invalid, the interpreter lacks a package, or the process ended.
  PythonCamera(const std::string& interpreter, const std::string& argument);

  [[nodiscard]] std::string describe() const override { return name_; }
  [[nodiscard]] int width() const noexcept override { return width_; }
  [[nodiscard]] int height() const noexcept override { return height_; }
  bool wait(const std::function<bool()>& stopping) override;
  void read(std::span<std::uint8_t> into) override;

 private:
  /// Waits until the pipe of pictures has something, or its end, `milliseconds` at most. Meanwhile it reads what the
  /// process prints: a full pipe would stop it.
  bool readable(int milliseconds);
  /// Some bytes of the pipe of pictures; 0: none at the moment. Throws Error: it has ended.
  std::size_t take(std::span<char> into);
  void fill(std::span<char> into);
  [[nodiscard]] std::string line();
  void take_print();
  [[noreturn]] void ended();

  std::string interpreter_, argument_, name_;
  std::string printed_;  ///< the last of what it printed
  launcher::ChildProcess child_;
  bool file_ = false;
  int width_ = 0, height_ = 0;
  std::chrono::nanoseconds period_{};
  Pace pace_;
};

}  // namespace cardan::street
