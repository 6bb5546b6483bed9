// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cardan::street {

/// How a detector of the 80 COCO classes writes down what it found, all in one tensor of floats.
enum class DetectorLayout : std::uint8_t {
  FastestDet,  ///< 1 x 85 x rows x columns: objectness, dx, dy (tanh), width, height (sigmoid), classes of each cell
  Yolo5,       ///< 1 x N x 85 (YOLOv5, YOLOv7): centre and size in pixels of the input, objectness, classes
  Yolo8,       ///< 1 x 84 x N (YOLOv8, YOLO11): centre and size in pixels of the input, classes
};

[[nodiscard]] std::string_view name_of(DetectorLayout layout) noexcept;

/// The layout of a tensor of `shape` that a network gives for a picture of `input`; empty: none that is known.
[[nodiscard]] std::optional<DetectorLayout> layout_of(const std::vector<int>& shape, cv::Size input) noexcept;

/// "1 x 85 x 22 x 22"
[[nodiscard]] std::string shape_text(const std::vector<int>& shape);

/// One box, in parts of the network's input (0 to 1, origin at its upper left).
struct Candidate {
  float x, y, width, height;
  float score;            ///< 0 to 1
  std::uint8_t category;  ///< of kCocoClasses
};

/// Adds boxes that score at least `least` to `found`. A box that is not finite, has no size, or lies outside of the
/// picture is left out. `output` has the layout's shape, and 32-bit floats without gaps.
void decode(DetectorLayout layout, const cv::Mat& output, cv::Size input, float least, std::vector<Candidate>& found);

/// Of boxes of one class that overlap by more than `overlap` (intersection over union) only the best stays. The best
/// come first, at most `most`.
void keep_best(std::vector<Candidate>& found, float overlap, std::size_t most);

}  // namespace cardan::street
