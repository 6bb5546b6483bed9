// SPDX-License-Identifier: Apache-2.0
#include "demo/files.hpp"

#include <filesystem>
#include <initializer_list>
#include <system_error>

#include "cardan/error.hpp"
#include "demo/detector/picture_detector.hpp"
#include "demo/sensors/camera_source.hpp"
#include "src/base/program_folder.hpp"

namespace cardan::street {
namespace {

namespace fs = std::filesystem;

/// The first file that exists: of `from_program` (relative to the folder of this program, or absolute), else of
/// `from_here`; "": none.
std::string first_file(std::initializer_list<const char*> from_program, const char* from_here) {
  std::error_code ignored;
  const fs::path program = program_folder();
  for (const char* path : from_program) {
    const fs::path file = (program / path).lexically_normal();
    if (fs::is_regular_file(file, ignored)) return file.string();
  }
  return fs::is_regular_file(from_here, ignored) ? std::string(from_here) : std::string();
}

}  // namespace

std::string usual_camera() {
  std::string video = kHasOpenCv ? first_file({"../../data/vtest.avi"}, "build/data/vtest.avi") : std::string();
  return video.empty() ? kDrawn : video;
}

std::string street_file() {
  if (std::string file = first_file({"../../../demo/street.json", "../share/cardan/street.json"}, "demo/street.json");
      !file.empty())
    return file;
  throw Error(ErrorCode::Unavailable, "demo/street.json does not exist",
              "run this from the folder of Cardan's sources");
}

plan::Plan street_plan(const plan::PlanOptions& options) { return plan::make_plan(street_file(), options); }

}  // namespace cardan::street
