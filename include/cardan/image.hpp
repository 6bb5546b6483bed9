// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "cardan/fixed_string.hpp"
#include "cardan/messages/header.hpp"
#include "cardan/shm_vector.hpp"

/// \file
/// Images, and the meaning of ROS image encodings in bytes and in OpenCV's types. OpenCV is needed only by programs
/// that call Image::mat().

namespace cardan {

/// Room for every name in ROS's image_encodings.hpp.
using ImageEncoding = FixedString<28>;

/// More rows or columns than any image has. This bound keeps every product of sizes within 64 bits.
inline constexpr std::uint32_t kMostImageRows = 1U << 24U;

/// The memory format of one encoding.
/// Thread safety: constant. Never blocks.
struct ImageFormat {
  /// OpenCV's depth numbers: the type of one channel's value, and its bits.
  enum Depth : std::uint8_t { U8 = 0, S8 = 1, U16 = 2, S16 = 3, S32 = 4, F32 = 5, F64 = 6 };

  Depth depth = U8;           ///< of each channel
  std::uint8_t channels = 0;  ///< 0: unknown
  std::uint8_t row_halves =
      2;  ///< rows of bytes for two rows of pixels: 2, except for planar YUV, whose color follows below the brightness

  /// False for an encoding that ROS does not have: then the other values mean nothing.
  [[nodiscard]] constexpr bool known() const noexcept { return channels != 0; }
  /// Bytes of one pixel, of all its channels.
  [[nodiscard]] constexpr std::uint64_t pixel_bytes() const noexcept {
    constexpr std::uint8_t kBytes[] = {1, 1, 2, 2, 4, 4, 8};
    return std::uint64_t{kBytes[depth]} * channels;
  }
  /// Bytes of a row of `width` pixels without a gap after it.
  [[nodiscard]] constexpr std::uint64_t row_bytes(std::uint32_t width) const noexcept { return width * pixel_bytes(); }
  /// Rows of the `cv::Mat`. If the number of pixel rows is odd, the last row has color too.
  [[nodiscard]] constexpr std::uint64_t rows(std::uint32_t height) const noexcept {
    return (std::uint64_t{height} * row_halves + 1) / 2;
  }
  /// The inverse of rows().
  [[nodiscard]] constexpr std::int64_t height_of(std::int64_t mat_rows) const noexcept {
    return mat_rows * 2 / row_halves;
  }
  /// As OpenCV's CV_MAKETYPE.
  [[nodiscard]] constexpr int cv_type() const noexcept { return depth + ((channels - 1) << 3); }
};

/// The format of a ROS encoding. Not `known()` if ROS has no such name.
[[nodiscard]] ImageFormat image_format(std::string_view encoding) noexcept;

/// The same, but throws `cardan::Error` (InvalidArgument), which lists the known encodings.
[[nodiscard]] ImageFormat image_format_or_throw(std::string_view encoding);

/// The format of an OpenCV type such as CV_8UC3. Throws `cardan::Error` for CV_16F and more than 4 channels, which ROS
/// does not have.
[[nodiscard]] ImageFormat image_format_of_cv_type(int type);

/// The encoding by OpenCV's conventions: "mono8", "bgr8", "bgra8" for 8 bits, otherwise ROS's plain names ("16UC1",
/// "32FC3").
[[nodiscard]] ImageEncoding encoding_of_cv_type(int type);

/// Bytes of an image without gaps between its rows. Throws `cardan::Error` (InvalidArgument) for sizes that are
/// negative or greater than 16,777,216.
[[nodiscard]] std::uint64_t image_bytes_or_throw(std::int64_t height, std::int64_t width, const ImageFormat& format);

/// Throws `cardan::Error` (InvalidArgument): OpenCV does not hold `encoding` as `type`.
[[noreturn]] void throw_wrong_cv_type(std::string_view encoding, int type);

}  // namespace cardan

namespace cv {
class Mat;  // declared only: a caller of mat() includes OpenCV, other code does not need it
}

namespace cardan {

/// Uncompressed pixels in OpenCV's layout; sensor_msgs/msg/Image in ROS 2.
struct Image {
  Header header;                   ///< time of the exposure, and frame of the camera
  std::uint32_t height = 0;        ///< pixels
  std::uint32_t width = 0;         ///< pixels
  ImageEncoding encoding;          ///< as in ROS: "bgr8", "mono8", "bayer_rggb8", "16UC1", "yuv422_yuy2", …
  std::uint8_t is_bigendian = 0;   ///< 1: numbers of more than one byte are big-endian; mat() does not swap them
  std::uint32_t step = 0;          ///< bytes from one row to the next
  shm::vector<std::uint8_t> data;  ///< the rows, `step` bytes each

  /// Makes room for `rows` × `cols` pixels of an OpenCV type (`CV_8UC3`) and returns them, to be filled in place. For a
  /// loan. The encoding becomes OpenCV's own for that type ("bgr8" for CV_8UC3) unless given. Throws
  /// `std::length_error` if the topic's `max_bytes` is too small, and `cardan::Error` for sizes and types that no image
  /// has.
  template <class Mat = cv::Mat>
  [[nodiscard]] Mat mat(int rows, int cols, int type, std::string_view with_encoding = {}) {
    const ImageEncoding name = with_encoding.empty() ? encoding_of_cv_type(type) : ImageEncoding(with_encoding);
    const ImageFormat format = image_format_or_throw(name);
    if (format.cv_type() != type) throw_wrong_cv_type(name, type);
    shape(format.height_of(rows), cols, format, name);
    return Mat(rows, cols, type, data.data(), step);
  }

  /// The pixels as a `cv::Mat` over shared memory, without a copy. For a loan.
  template <class Mat = cv::Mat>
  [[nodiscard]] Mat mat() {
    return view<Mat>(data.data());
  }

  /// The same for a sample. The pages are read-only: writing to the pixels ends the program, so `clone()` them
  /// before. Empty if encoding, sizes and data do not match (a publisher may send any values).
  template <class Mat = cv::Mat>
  [[nodiscard]] const Mat mat() const {
    return view<Mat>(const_cast<std::uint8_t*>(data.data()));
  }

  /// As `mat(rows, cols, type)`, without OpenCV: makes room for `height` × `width` pixels of a ROS encoding and returns
  /// the bytes to fill.
  [[nodiscard]] std::span<std::uint8_t> resize(std::uint32_t with_height, std::uint32_t with_width,
                                               std::string_view with_encoding) {
    const ImageFormat format = image_format_or_throw(with_encoding);
    shape(with_height, with_width, format, with_encoding);
    return data.span();
  }

  /// Whether `data` has all the bytes that `encoding`, `height`, `width` and `step` require. mat() is empty otherwise.
  [[nodiscard]] bool valid() const noexcept {
    const ImageFormat format = image_format(encoding);
    return format.known() && step >= format.row_bytes(width) &&
           (step == 0 || format.rows(height) <= data.size() / step);
  }

 private:
  void shape(std::int64_t with_height, std::int64_t with_width, const ImageFormat& format,
             std::string_view with_encoding) {
    data.resize_for_overwrite(image_bytes_or_throw(with_height, with_width, format));
    height = static_cast<std::uint32_t>(with_height);
    width = static_cast<std::uint32_t>(with_width);
    encoding = ImageEncoding(with_encoding);
    step = static_cast<std::uint32_t>(format.row_bytes(width));
    is_bigendian = 0;
  }

  template <class Mat>
  [[nodiscard]] Mat view(std::uint8_t* pixels) const {
    const ImageFormat format = image_format(encoding);
    const std::uint64_t rows = format.rows(height);
    if (!valid() || rows > kMostImageRows || width > kMostImageRows) return Mat();
    return Mat(static_cast<int>(rows), static_cast<int>(width), format.cv_type(), pixels, step);
  }
};

/// Pixels as a JPEG, PNG or video frame; sensor_msgs/msg/CompressedImage in ROS 2.
struct CompressedImage {
  Header header;  ///< as Image::header
  FixedString<124>
      format;  ///< "jpeg", "png", "h264", or "bgr8; jpeg compressed bgr8" as ROS's image_transport writes it
  shm::vector<std::uint8_t> data;  ///< the compressed bytes
};

}  // namespace cardan

CARDAN_STANDARD_MESSAGE_(cardan::Image, "sensor_msgs/msg/Image", header, height, width, encoding, is_bigendian, step,
                         data);
CARDAN_STANDARD_MESSAGE_(cardan::CompressedImage, "sensor_msgs/msg/CompressedImage", header, format, data);
