// SPDX-License-Identifier: Apache-2.0
// What the demo does in a build without OpenCV: the camera is the drawn street, and what moves in it is found.
#include "cardan/base/error.hpp"
#include "demo/detector/motion_detector.hpp"
#include "demo/report/drawing.hpp"
#include "demo/sensors/camera_source.hpp"

namespace cardan::street {
namespace {

[[noreturn]] void refuse(const std::string& cause, const std::string& or_else) {
  throw Error(
      ErrorCode::Unavailable, cause,
      "use a build with OpenCV (`make demo` in Cardan's sources, or the Debian package cardan-opencv), or " + or_else);
}

}  // namespace

const bool kHasOpenCv = false;

std::unique_ptr<CameraSource> open_video(const std::string& argument, const Beside&) {
  refuse("--camera " + argument + ": this build lacks OpenCV, which reads cameras and videos",
         "leave --camera out for the drawn street");
}

std::unique_ptr<PictureDetector> open_detector(const std::string& model) {
  if (model.empty()) return std::make_unique<MotionDetector>();
  refuse("--detector " + model + ": this build lacks OpenCV, which runs models", "leave --detector out");
}

void set_detector_threads(int) {}

bool draw_seen(const std::string&, const Picture&, std::span<const Seen>, const std::string&) { return false; }
bool draw_obstacles(const std::string&, std::span<const Point>, std::span<const Obstacle>, bool) { return false; }
std::string side_by_side(const std::string&, const std::string&) { return {}; }

}  // namespace cardan::street
