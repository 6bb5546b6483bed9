// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>

#include "demo/picture.hpp"
#include "demo/seen.hpp"

namespace cardan::street {

/// Finds things in pictures. Not thread-safe.
class PictureDetector {
 public:
  virtual ~PictureDetector() = default;

  /// For captions: "HOG", "FastestDet.onnx".
  [[nodiscard]] virtual std::string name() const = 0;
  /// The span is valid until the next call. Blocks for as long as the detector computes.
  virtual std::span<const Seen> detect(const Picture& picture) = 0;
};

/// The model in the ONNX file `model`, or, if that is empty, OpenCV's HOG pedestrian detector (without OpenCV: a
/// MotionDetector). Throws Error as OnnxDetector; Unavailable for a model in a build without OpenCV.
[[nodiscard]] std::unique_ptr<PictureDetector> open_detector(const std::string& model);

/// How many threads OpenCV computes with, in the whole process; -1: as many as there are CPUs.
void set_detector_threads(int threads);

/// Whether this build has OpenCV: cameras and videos, models, pictures of the detections.
extern const bool kHasOpenCv;

}  // namespace cardan::street
