// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cardan/image.hpp"

namespace cardan::street {

/// 8-bit pixels that somebody else owns, row by row: BGR (three channels) or grey (one).
struct Picture {
  const std::uint8_t* pixels = nullptr;
  int width = 0, height = 0;  ///< pixels
  int channels = 3;
  std::size_t step = 0;  ///< bytes from one row to the next

  [[nodiscard]] bool empty() const noexcept { return width <= 0 || height <= 0; }
  [[nodiscard]] const std::uint8_t* row(int y) const noexcept { return pixels + static_cast<std::size_t>(y) * step; }
};

/// The pixels of an image, where they lie. Empty: its encoding is another one, or its sizes do not match its data.
[[nodiscard]] inline Picture picture_of(const Image& image) noexcept {
  constexpr std::uint32_t kMostPixels = 1U << 15;  // a side
  const bool grey = image.encoding == "mono8" || image.encoding == "8UC1";
  const bool colour = image.encoding == "bgr8" || image.encoding == "rgb8" || image.encoding == "8UC3";
  if (!(grey || colour) || !image.valid() || image.width > kMostPixels || image.height > kMostPixels) return {};
  return {.pixels = image.data.data(),
          .width = static_cast<int>(image.width),
          .height = static_cast<int>(image.height),
          .channels = grey ? 1 : 3,
          .step = image.step};
}

/// `header.frame_id` of the drawn street's pictures, so that nobody takes them for a camera's.
inline constexpr std::string_view kDrawnFrame = "camera_drawn";

}  // namespace cardan::street
