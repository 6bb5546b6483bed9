// SPDX-License-Identifier: Apache-2.0
#include "cardan/image.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "cardan/error.hpp"

namespace cardan {
namespace {

struct Named {
  std::string_view name;
  ImageFormat format;
};

// Besides these, ROS has the plain names "8UC1" to "64FC4".
constexpr auto kNamed = std::to_array<Named>({
    {"mono8", {ImageFormat::U8, 1}},         {"mono16", {ImageFormat::U16, 1}},
    {"bgr8", {ImageFormat::U8, 3}},          {"rgb8", {ImageFormat::U8, 3}},
    {"bgra8", {ImageFormat::U8, 4}},         {"rgba8", {ImageFormat::U8, 4}},
    {"bgr16", {ImageFormat::U16, 3}},        {"rgb16", {ImageFormat::U16, 3}},
    {"bgra16", {ImageFormat::U16, 4}},       {"rgba16", {ImageFormat::U16, 4}},
    {"bayer_rggb8", {ImageFormat::U8, 1}},   {"bayer_bggr8", {ImageFormat::U8, 1}},
    {"bayer_gbrg8", {ImageFormat::U8, 1}},   {"bayer_grbg8", {ImageFormat::U8, 1}},
    {"bayer_rggb16", {ImageFormat::U16, 1}}, {"bayer_bggr16", {ImageFormat::U16, 1}},
    {"bayer_gbrg16", {ImageFormat::U16, 1}}, {"bayer_grbg16", {ImageFormat::U16, 1}},
    {"yuv422", {ImageFormat::U8, 2}},        {"uyvy", {ImageFormat::U8, 2}},
    {"yuv422_yuy2", {ImageFormat::U8, 2}},   {"yuyv", {ImageFormat::U8, 2}},
    {"nv21", {ImageFormat::U8, 1, 3}},       {"nv24", {ImageFormat::U8, 1, 6}},
});

constexpr std::array<std::string_view, 7> kDepthNames{"8U", "8S", "16U", "16S", "32S", "32F", "64F"};

}  // namespace

ImageFormat image_format(std::string_view encoding) noexcept {
  const auto* found = std::ranges::find(kNamed, encoding, &Named::name);
  if (found != kNamed.end()) return found->format;
  for (std::size_t depth = 0; depth < kDepthNames.size(); ++depth) {
    const std::string_view name = kDepthNames[depth];
    if (encoding.size() == name.size() + 2 && encoding.starts_with(name) && encoding[name.size()] == 'C') {
      const char channels = encoding.back();
      if (channels >= '1' && channels <= '4') {
        return {static_cast<ImageFormat::Depth>(depth), static_cast<std::uint8_t>(channels - '0')};
      }
    }
  }
  return {};
}

ImageFormat image_format_or_throw(std::string_view encoding) {
  const ImageFormat format = image_format(encoding);
  if (format.known()) return format;
  std::string known;
  for (const Named& named : kNamed) known += std::string(named.name) + ", ";
  throw Error(ErrorCode::InvalidArgument, "no image encoding is called '" + std::string(encoding.substr(0, 64)) + "'",
              "use one of " + known + "8UC1 … 64FC4");
}

void throw_wrong_cv_type(std::string_view encoding, int type) {
  throw Error(ErrorCode::InvalidArgument,
              "encoding '" + std::string(encoding) + "' does not go with OpenCV type " + std::to_string(type),
              "use type " + std::to_string(image_format(encoding).cv_type()) + ", or another encoding");
}

ImageFormat image_format_of_cv_type(int type) {
  const int depth = type & 7;
  const int channels = (type >> 3) + 1;
  if (type < 0 || depth > ImageFormat::F64 || channels > 4) {
    throw Error(ErrorCode::InvalidArgument, "OpenCV type " + std::to_string(type) + " has no ROS image encoding",
                "use CV_8U, 8S, 16U, 16S, 32S, 32F or 64F with 1 to 4 channels");
  }
  return {static_cast<ImageFormat::Depth>(depth), static_cast<std::uint8_t>(channels)};
}

ImageEncoding encoding_of_cv_type(int type) {
  const ImageFormat format = image_format_of_cv_type(type);
  if (format.depth == ImageFormat::U8 && format.channels == 1) return "mono8";
  if (format.depth == ImageFormat::U8 && format.channels == 3) return "bgr8";
  if (format.depth == ImageFormat::U8 && format.channels == 4) return "bgra8";
  ImageEncoding name(kDepthNames[format.depth]);
  const char suffix[2] = {'C', static_cast<char>('0' + format.channels)};
  static_cast<void>(name.append({suffix, 2}));  // 28 bytes hold every such name
  return name;
}

std::uint64_t image_bytes_or_throw(std::int64_t height, std::int64_t width, const ImageFormat& format) {
  if (height < 0 || width < 0 || height > kMostImageRows || width > kMostImageRows) {
    throw Error(ErrorCode::InvalidArgument,
                "an image of " + std::to_string(height) + " rows and " + std::to_string(width) + " columns",
                "rows and columns must be 0 to " + std::to_string(kMostImageRows));
  }
  return format.rows(static_cast<std::uint32_t>(height)) * format.row_bytes(static_cast<std::uint32_t>(width));
}

}  // namespace cardan
