// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/bridge/foxglove/sensor_views.hpp"

namespace cardan::bridge::foxglove {

/// Pixels without gaps: grey, or red, green, blue.
struct Picture {
  std::uint32_t width = 0, height = 0;
  int channels = 0;  ///< 1 or 3
  std::vector<std::uint8_t> pixels{};
  double brightest = 0;  ///< of a depth image: its white value; 0: it is not one
};

/// Makes an image smaller, so that its longer side has at most `most` pixels. Empty: its parts do not fit together, and
/// `why` says so. Costs at most four looks at the image for each pixel of the picture. Any thread; does not block.
[[nodiscard]] std::optional<Picture> picture_of(const ImageView& image, std::uint32_t most, std::string& why);

/// The picture as JPEG. Empty: this build has no libjpeg, or it failed. Any thread; does not block.
[[nodiscard]] std::vector<std::byte> jpeg_of(const Picture& picture, int quality);

}  // namespace cardan::bridge::foxglove
