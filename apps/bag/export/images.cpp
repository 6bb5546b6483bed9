// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/export/images.hpp"

#include "apps/become.hpp"

namespace cardan::apps {
namespace {

const ImageLibrary& loaded() {
  void* const function =
      function_of_part("libcardan_images.so", "cardan_image_library",
                       {.cause = "pictures and videos need OpenCV",
                        .installed = "OpenCV",
                        .packages = "libopencv-core-dev libopencv-imgproc-dev libopencv-imgcodecs-dev "
                                    "libopencv-videoio-dev libopencv-objdetect-dev",
                        .otherwise = "Or leave the topics with images out (--exclude)"});
  return *reinterpret_cast<decltype(cardan_image_library)*>(function)();
}

}  // namespace

const ImageLibrary& image_library() {
  static const ImageLibrary& library = loaded();
  return library;
}

}  // namespace cardan::apps
