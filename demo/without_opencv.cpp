// SPDX-License-Identifier: Apache-2.0
// The demo in a build without OpenCV: the camera is the drawn street, or Python's OpenCV reads it, and what
// moves in it is found.
#include <cstdlib>

#include "cardan/error.hpp"
#include "demo/detector/motion_detector.hpp"
#include "demo/report/drawing.hpp"
#include "demo/sensors/python_camera.hpp"
#include "demo/sensors/recorded_folder.hpp"

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
  if (is_folder_of_frames(argument))
    refuse("--camera " + argument + ": folders of pictures need a build with OpenCV", "give a video");
  const char* const named = std::getenv("CARDAN_PYTHON");
  return std::make_unique<PythonCamera>(named != nullptr && *named != '\0' ? named : "python3", argument);
}

std::unique_ptr<PictureDetector> open_detector(const std::string& model) {
  if (model.empty()) return std::make_unique<MotionDetector>();
  refuse("--detector " + model + ": this build lacks OpenCV, which runs models", "leave --detector out");
}

void set_detector_threads(int) {}

bool draw_seen(const std::string&, const Picture&, std::span<const Seen>, const std::string&, const LidarInPicture*) {
  return false;
}
bool draw_obstacles(const std::string&, std::span<const Point>, std::span<const Obstacle>, bool) { return false; }
std::string side_by_side(const std::string&, const std::string&) { return {}; }

}  // namespace cardan::street
