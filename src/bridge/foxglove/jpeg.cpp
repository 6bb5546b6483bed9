// SPDX-License-Identifier: Apache-2.0
// The only file with libjpeg, which is optional.
#include "src/bridge/foxglove/picture.hpp"
#include "src/bridge/foxglove/preview.hpp"

#if defined(CARDAN_HAS_JPEG)

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <memory>
// clang-format off
#include <jpeglib.h>  // needs <cstdio> before it
// clang-format on

namespace cardan::bridge::foxglove {
namespace {

/// libjpeg's own answer to an error is exit().
struct JpegErrors {
  jpeg_error_mgr base;
  std::jmp_buf back;
};

[[noreturn]] void jpeg_failed(j_common_ptr jpeg) { std::longjmp(reinterpret_cast<JpegErrors*>(jpeg->err)->back, 1); }
void jpeg_says_nothing(j_common_ptr /*jpeg*/, int /*level*/) {}

/// Nothing in here has a destructor: an error jumps out of it.
bool jpeg_code(const Picture& picture, int quality, unsigned char** bytes, unsigned long* size) noexcept {
  jpeg_compress_struct jpeg{};
  JpegErrors errors;
  jpeg.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = jpeg_failed;
  errors.base.emit_message = jpeg_says_nothing;
  if (setjmp(errors.back) != 0) {  // before the next line, which fails without memory
    jpeg_destroy_compress(&jpeg);
    return false;
  }
  jpeg_create_compress(&jpeg);
  jpeg_mem_dest(&jpeg, bytes, size);
  jpeg.image_width = picture.width;
  jpeg.image_height = picture.height;
  jpeg.input_components = picture.channels;
  jpeg.in_color_space = picture.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, quality, TRUE);
  jpeg.dct_method = JDCT_IFAST;
  jpeg_start_compress(&jpeg, TRUE);
  const std::size_t row = std::size_t{picture.width} * static_cast<std::size_t>(picture.channels);
  while (jpeg.next_scanline < jpeg.image_height) {
    auto* line = const_cast<JSAMPROW>(picture.pixels.data() + jpeg.next_scanline * row);
    jpeg_write_scanlines(&jpeg, &line, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  return true;
}

}  // namespace

bool makes_pictures() noexcept { return true; }

std::vector<std::byte> jpeg_of(const Picture& picture, int quality) {
  // As much as a picture can need (tjBufSize), of which only what it needs is touched. libjpeg would make a buffer grow
  // and, if there is no memory then, leave behind a pointer that it has freed.
  constexpr std::size_t kBlock = 16, kHead = 2048;
  const auto padded = [](std::uint32_t pixels) { return (pixels + kBlock - 1) / kBlock * kBlock; };
  unsigned long size = padded(picture.width) * padded(picture.height) * 3 + kHead;
  const auto room = std::make_unique_for_overwrite<unsigned char[]>(size);
  unsigned char* bytes = room.get();
  const bool coded = jpeg_code(picture, quality, &bytes, &size);
  const std::unique_ptr<unsigned char, decltype(&std::free)> grown(coded && bytes != room.get() ? bytes : nullptr,
                                                                   &std::free);
  if (!coded) return {};
  const auto* const first = reinterpret_cast<const std::byte*>(bytes);
  return {first, first + size};
}

}  // namespace cardan::bridge::foxglove

#else

namespace cardan::bridge::foxglove {

bool makes_pictures() noexcept { return false; }
std::vector<std::byte> jpeg_of(const Picture& /*picture*/, int /*quality*/) { return {}; }

}  // namespace cardan::bridge::foxglove

#endif
