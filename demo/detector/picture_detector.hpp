// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <opencv2/core/mat.hpp>
#include <span>
#include <string>

#include "demo/seen.hpp"

namespace cardan::street {

/// Finds things in pictures. Not thread-safe.
class PictureDetector {
 public:
  virtual ~PictureDetector() = default;

  /// For captions: "HOG", "FastestDet.onnx".
  [[nodiscard]] virtual std::string name() const = 0;
  /// `picture` is 8-bit BGR or grey and is only read. The span is valid until the next call. Blocks for as long as the
  /// detector computes.
  virtual std::span<const Seen> detect(const cv::Mat& picture) = 0;
};

/// OpenCV's HOG pedestrian detector, or the model in the ONNX file `model`. Throws Error as OnnxDetector.
[[nodiscard]] std::unique_ptr<PictureDetector> open_detector(const std::string& model);

}  // namespace cardan::street
