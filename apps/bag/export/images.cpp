// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/export/images.hpp"

#include <dlfcn.h>

#include "apps/become.hpp"
#include "cardan/base/error.hpp"
#include "cardan/runtime/component.hpp"

namespace cardan::apps {
namespace {

constexpr const char* kLibrary = "libcardan_images.so";

const ImageLibrary& loaded() {
  void* const library = ::dlopen(component_library_path(kLibrary, "/proc/self/exe").c_str(), RTLD_NOW);
  void* const function = library == nullptr ? nullptr : ::dlsym(library, "cardan_image_library");
  if (function == nullptr)
    throw Error(
        ErrorCode::Unavailable, std::string("pictures and videos need OpenCV: ") + ::dlerror(),
        kInWheel
            ? "the Python package is without this part: install Cardan from its sources (docs/install.md). Or leave "
              "the topics with images out (--exclude)"
            : "this part is built if OpenCV is installed. On Debian and Ubuntu: sudo apt-get install "
              "libopencv-core-dev libopencv-imgproc-dev libopencv-imgcodecs-dev libopencv-videoio-dev "
              "libopencv-objdetect-dev; then build again. Or leave the topics with images out (--exclude)");
  return *reinterpret_cast<decltype(cardan_image_library)*>(function)();  // stays loaded
}

}  // namespace

const ImageLibrary& image_library() {
  static const ImageLibrary& library = loaded();
  return library;
}

}  // namespace cardan::apps
