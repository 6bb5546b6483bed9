// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "cardan/clock.hpp"
#include "demo/sensors/timeline.hpp"

namespace cardan::street {

/// Where pictures come from. A driver calls wait(), takes a loan, reads into it and publishes: a picture is decoded or
/// drawn straight into the memory that its readers see.
class CameraSource {
 public:
  virtual ~CameraSource() = default;

  /// For people, for example "vtest.avi, 768 x 576 at 10 fps, looped"; says "drawn" where it is.
  [[nodiscard]] virtual std::string describe() const = 0;
  [[nodiscard]] virtual int width() const noexcept = 0;   ///< pixels
  [[nodiscard]] virtual int height() const noexcept = 0;  ///< pixels
  [[nodiscard]] virtual bool drawn() const noexcept { return false; }

  /// Blocks until the next picture is due (and decoded) or has arrived; false once `stopping` says so. Throws
  /// cardan::Error (Unavailable) when a live source ends. Not thread-safe.
  virtual bool wait(const std::function<bool()>& stopping) = 0;
  /// Writes that picture into `into`: BGR, width() * height() * 3 bytes. Throws cardan::Error when the source has
  /// changed its size: the picture does not fit any more.
  virtual void read(std::span<std::uint8_t> into) = 0;
  /// Of that picture: wall clock, ns.
  [[nodiscard]] virtual std::int64_t stamp() const noexcept { return wall_now(); }
};

/// The name of the drawn street on the command line.
inline constexpr const char* kDrawn = "drawn";

/// Opens what a user gives: "drawn" (the drawn street), or what open_video() opens. Throws Error as open_video().
[[nodiscard]] std::unique_ptr<CameraSource> open_camera(const std::string& argument, const Beside& beside = {});

/// Opens a video file (looped at its own rate), a folder of pictures, a V4L2 device (its number or /dev/videoN) or a
/// URL, through OpenCV. `beside`: of a folder, the scans that it keeps step with. Throws cardan::Error: Unavailable
/// when it cannot be opened, also in a build without OpenCV, InvalidArgument when it delivers no picture.
[[nodiscard]] std::unique_ptr<CameraSource> open_video(const std::string& argument, const Beside& beside);

}  // namespace cardan::street
