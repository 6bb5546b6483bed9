// SPDX-License-Identifier: Apache-2.0
// Pixels to PNG, JPEG and video, which needs OpenCV. It is a separate library, loaded when it is asked for: a command
// that linked with OpenCV would need a tenth of a second more for everything else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cardan::apps {

/// The fields of a sensor_msgs/msg/Image, unchecked.
struct RawImage {
  std::uint32_t height = 0, width = 0;  ///< pixels
  std::uint32_t step = 0;               ///< bytes from one row to the next
  std::string_view encoding{};          ///< as in ROS: "bgr8", "mono16", …
  bool is_bigendian = false;
  std::span<const std::byte> data{};
};

enum class Picture : std::uint8_t { Png, Jpeg };

struct PictureOptions {
  Picture as = Picture::Png;
  int quality = 95;  ///< of JPEG, 1 to 100: larger files that look more like the image
};

/// Each function gives back nothing, or why an image cannot be taken, in words.
class VideoFile {
 public:
  virtual ~VideoFile() = default;
  [[nodiscard]] virtual std::string add(const RawImage& image) = 0;
  [[nodiscard]] virtual std::string add(std::span<const std::byte> compressed) = 0;
  /// Ends the file, and looks whether it holds as many frames as were added.
  [[nodiscard]] virtual std::string finish() = 0;
};

/// Any thread may encode; a video belongs to one. Blocks for the time that it takes.
class ImageLibrary {
 public:
  virtual ~ImageLibrary() = default;
  /// Fills `out` with a PNG or JPEG. Empty: done; else why not.
  [[nodiscard]] virtual std::string encode(const RawImage& image, const PictureOptions& options,
                                           std::vector<unsigned char>& out) const = 0;
  /// The same of a picture in another format (WebP, TIFF, …).
  [[nodiscard]] virtual std::string encode(std::span<const std::byte> compressed, const PictureOptions& options,
                                           std::vector<unsigned char>& out) const = 0;
  /// An .mp4 of `rate` frames a second; it starts with the first frame. Throws Error (Unavailable) from there: this
  /// OpenCV writes no videos.
  [[nodiscard]] virtual std::unique_ptr<VideoFile> video(const std::string& path, double rate) const = 0;
};

/// The library, loaded the first time. Throws Error (Unavailable) that says what to install. Any thread.
[[nodiscard]] const ImageLibrary& image_library();

}  // namespace cardan::apps

extern "C" {
/// The library's functions.
const cardan::apps::ImageLibrary* cardan_image_library();
}
