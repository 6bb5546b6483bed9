// SPDX-License-Identifier: Apache-2.0
#include "demo/detector/detector_layouts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <opencv2/dnn.hpp>

#include "demo/detector/coco.hpp"

namespace cardan::street {
namespace {

constexpr int kClasses = static_cast<int>(kCocoClasses.size());
constexpr int kBox = 4;
/// More than this many boxes above the least score are noise, and comparing them takes its time.
constexpr int kMostCompared = 2000;

/// Cells of the grids of 8, 16 and 32 pixels on which YOLO looks for things.
int yolo_cells(cv::Size input, int coarsest) {
  int cells = 0;
  for (int stride = 8; stride <= coarsest; stride *= 2) cells += (input.width / stride) * (input.height / stride);
  return cells;
}

/// The class of `classes` values, `step` apart, that scores highest.
struct Best {
  int category = 0;
  float score = 0;
};
Best best_class(const float* classes, std::size_t step) {
  Best best;
  for (int c = 0; c < kClasses; ++c) {
    const float score = classes[static_cast<std::size_t>(c) * step];
    if (score > best.score) best = {c, score};
  }
  return best;
}

void add(float centre_x, float centre_y, float width, float height, float score, int category,
         std::vector<Candidate>& found) {
  const bool inside = width > 0 && height > 0 && width <= 2 && height <= 2 && centre_x > 0 && centre_x < 1 &&
                      centre_y > 0 && centre_y < 1;  // false for NaN too
  if (!inside) return;
  found.push_back({centre_x - width / 2, centre_y - height / 2, width, height, std::min(score, 1.0F),
                   static_cast<std::uint8_t>(category)});
}

float sigmoid(float value) { return 1 / (1 + std::exp(-value)); }

void decode_fastest_det(const cv::Mat& output, float least, std::vector<Candidate>& found) {
  const int rows = output.size[2];
  const int columns = output.size[3];
  const auto plane = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  const auto* const values = output.ptr<float>();
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const float* const cell = values + row * columns + column;
      if (!(cell[0] > 0)) continue;
      const Best best = best_class(cell + (1 + kBox) * plane, plane);
      const float score = std::pow(cell[0], 0.6F) * std::pow(best.score, 0.4F);  // as its authors weigh the two
      if (!(score >= least)) continue;
      add((static_cast<float>(column) + std::tanh(cell[plane])) / static_cast<float>(columns),
          (static_cast<float>(row) + std::tanh(cell[2 * plane])) / static_cast<float>(rows), sigmoid(cell[3 * plane]),
          sigmoid(cell[4 * plane]), score, best.category, found);
    }
  }
}

/// A YOLO's box number `i`, whose values are `step` apart.
void decode_yolo(const float* box, std::size_t step, bool objectness, cv::Size input, float least,
                 std::vector<Candidate>& found) {
  const float certain = objectness ? box[kBox * step] : 1.0F;
  if (!(certain >= least)) return;
  const Best best = best_class(box + (kBox + (objectness ? 1 : 0)) * step, step);
  const float score = certain * best.score;
  if (!(score >= least)) return;
  const auto width = static_cast<float>(input.width);
  const auto height = static_cast<float>(input.height);
  add(box[0] / width, box[step] / height, box[2 * step] / width, box[3 * step] / height, score, best.category, found);
}

}  // namespace

std::string_view name_of(DetectorLayout layout) noexcept {
  switch (layout) {
    case DetectorLayout::FastestDet:
      return "FastestDet";
    case DetectorLayout::Yolo5:
      return "YOLOv5";
    case DetectorLayout::Yolo8:
      break;
  }
  return "YOLOv8";
}

std::optional<DetectorLayout> layout_of(const std::vector<int>& shape, cv::Size input) noexcept {
  if (std::any_of(shape.begin(), shape.end(), [](int n) { return n < 1; }) || shape.empty() || shape[0] != 1) return {};
  if (shape.size() == 4 && shape[1] == 1 + kBox + kClasses) return DetectorLayout::FastestDet;
  if (shape.size() != 3) return {};
  if (shape[1] == kBox + kClasses) return DetectorLayout::Yolo8;
  // Three boxes a cell. YOLOX has the same shape with one, and writes down its boxes in another way.
  const int boxes = shape[1];
  if (shape[2] == 1 + kBox + kClasses && (boxes == 3 * yolo_cells(input, 32) || boxes == 3 * yolo_cells(input, 64)))
    return DetectorLayout::Yolo5;
  return {};
}

std::string shape_text(const std::vector<int>& shape) { return fmt::format("{}", fmt::join(shape, " x ")); }

void decode(DetectorLayout layout, const cv::Mat& output, cv::Size input, float least, std::vector<Candidate>& found) {
  if (layout == DetectorLayout::FastestDet) return decode_fastest_det(output, least, found);
  const auto* const values = output.ptr<float>();
  const bool rows = layout == DetectorLayout::Yolo5;  // a box a row, or a box a column
  const auto boxes = static_cast<std::size_t>(output.size[rows ? 1 : 2]);
  const auto length = static_cast<std::size_t>(output.size[rows ? 2 : 1]);
  for (std::size_t i = 0; i < boxes; ++i)
    decode_yolo(values + (rows ? i * length : i), rows ? 1 : boxes, rows, input, least, found);
}

void keep_best(std::vector<Candidate>& found, float overlap, std::size_t most) {
  std::vector<cv::Rect2d> boxes;
  std::vector<float> scores;
  for (const Candidate& c : found) {
    // Boxes of different classes lie in different places, so that none pushes out another's.
    boxes.emplace_back(c.x + 4.0 * c.category, c.y, c.width, c.height);
    scores.push_back(c.score);
  }
  std::vector<int> kept;
  cv::dnn::NMSBoxes(boxes, scores, 0.0F, overlap, kept, 1.0F, kMostCompared);
  std::vector<Candidate> best;
  for (const int i : kept) {
    if (best.size() == most) break;
    best.push_back(found[static_cast<std::size_t>(i)]);
  }
  found = std::move(best);
}

}  // namespace cardan::street
