// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/dnn.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "demo/detector/detector_layouts.hpp"
#include "demo/detector/picture_detector.hpp"
#include "demo/opencv_picture.hpp"

namespace cardan::street {

/// A detector of the 80 COCO classes from an ONNX file, run by OpenCV on the CPU: FastestDet, or a YOLO. It sees the
/// whole picture, scaled to the model's input: FastestDet's stretched, YOLO's with a margin that keeps its proportions,
/// as they were trained.
class OnnxDetector final : public PictureDetector {
 public:
  static constexpr std::size_t kMostSeen = 64;

  /// Loads the model and runs it once on an empty picture. Throws Error: Unavailable (the file is not there or cannot
  /// be read), InvalidArgument (it is not a model that OpenCV can run, its input is not a picture of a fixed size, or
  /// its output does not have a known layout: the text has the shape). Blocks for about a second.
  explicit OnnxDetector(const std::string& file);

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] DetectorLayout layout() const noexcept { return layout_; }
  /// Of the pictures that the model takes, in pixels.
  [[nodiscard]] cv::Size input() const noexcept { return input_; }
  std::span<const Seen> detect(const Picture& picture) override { return detect(mat_of(picture)); }
  std::span<const Seen> detect(const cv::Mat& picture);

 private:
  void learn_input(std::string_view model);
  void learn_layout();
  /// Which part of the input the picture takes, from its upper left.
  [[nodiscard]] cv::Size2f place(const cv::Mat& picture);

  std::string file_, name_;
  cv::dnn::Net net_;
  cv::Size input_;
  DetectorLayout layout_{};
  std::size_t output_ = 0;  ///< which of the outputs has it
  std::vector<std::string> outputs_;
  cv::Mat fitted_, blob_;
  std::vector<cv::Mat> results_;
  std::vector<Candidate> found_;
  std::vector<Seen> seen_;
};

}  // namespace cardan::street
