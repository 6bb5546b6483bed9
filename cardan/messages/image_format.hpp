// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cardan/types/fixed_string.hpp"

// The meaning of ROS image encodings in bytes and in OpenCV's types, without OpenCV.

namespace cardan {

/// Room for every name in ROS's image_encodings.hpp.
using ImageEncoding = FixedString<28>;

/// More rows or columns than any image has. This bound keeps every product of sizes within 64 bits.
inline constexpr std::uint32_t kMostImageRows = 1U << 24U;

/// The memory format of one encoding.
/// Thread safety: constant. Never blocks.
struct ImageFormat {
  /// OpenCV's depth numbers.
  enum Depth : std::uint8_t { U8 = 0, S8 = 1, U16 = 2, S16 = 3, S32 = 4, F32 = 5, F64 = 6 };

  Depth depth = U8;
  std::uint8_t channels = 0;  ///< 0: unknown
  std::uint8_t row_halves =
      2;  ///< rows of bytes for two rows of pixels: 2, except for planar YUV, whose color follows below the brightness

  [[nodiscard]] constexpr bool known() const noexcept { return channels != 0; }
  [[nodiscard]] constexpr std::uint64_t pixel_bytes() const noexcept {
    constexpr std::uint8_t kBytes[] = {1, 1, 2, 2, 4, 4, 8};
    return std::uint64_t{kBytes[depth]} * channels;
  }
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
