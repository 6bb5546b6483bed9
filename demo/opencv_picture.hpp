// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core/mat.hpp>

#include "demo/picture.hpp"

namespace cardan::street {

/// The same pixels for OpenCV, without a copy. Only for reading: they may lie in pages that cannot be written.
[[nodiscard]] inline const cv::Mat mat_of(const Picture& picture) {
  if (picture.empty()) return {};
  return {picture.height, picture.width, picture.channels == 1 ? CV_8UC1 : CV_8UC3,
          const_cast<std::uint8_t*>(picture.pixels), picture.step};
}

/// The other way. `mat`: CV_8UC1 or CV_8UC3.
[[nodiscard]] inline Picture picture_of(const cv::Mat& mat) noexcept {
  return {.pixels = mat.data, .width = mat.cols, .height = mat.rows, .channels = mat.channels(), .step = mat.step[0]};
}

}  // namespace cardan::street
