// SPDX-License-Identifier: Apache-2.0
#include "demo/detector/motion_detector.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace cardan::street {
namespace {

constexpr int kDifferent = 18;    // levels of a colour
constexpr int kLeastHeight = 10;  // cells
constexpr int kLeastCells = 40;
constexpr float kUpright = 1.2F;  // times as high as wide
constexpr std::size_t kMostThings = 64;

}  // namespace

void MotionDetector::compare(const Picture& picture) {
  const int columns = picture.width / kCell, rows = picture.height / kCell;
  const auto cells = static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows);
  const auto channels = static_cast<std::size_t>(picture.channels);
  const bool first = columns != columns_ || rows != rows_ || background_.size() != cells * channels;
  if (first) {
    columns_ = columns;
    rows_ = rows;
    background_.assign(cells * channels, 0);
  }
  moving_.assign(cells, 0);
  for (int y = 0; y < rows; ++y) {
    // The pixel in the middle of a cell represents it.
    const std::uint8_t* const row = picture.row(y * kCell + kCell / 2) + kCell / 2 * channels;
    for (int x = 0; x < columns; ++x) {
      const std::uint8_t* const now = row + static_cast<std::size_t>(x * kCell) * channels;
      std::uint8_t* const known = &background_[cell_at(x, y) * channels];
      int difference = 0;
      for (std::size_t c = 0; c < channels; ++c) {
        if (first) known[c] = now[c];
        difference = std::max(difference, std::abs(now[c] - known[c]));
        known[c] = static_cast<std::uint8_t>(known[c] + (now[c] > known[c]) - (now[c] < known[c]));
      }
      if (difference <= kDifferent) continue;
      for (int ny = std::max(y - 1, 0); ny <= std::min(y + 1, rows - 1); ++ny)
        for (int nx = std::max(x - 1, 0); nx <= std::min(x + 1, columns - 1); ++nx) moving_[cell_at(nx, ny)] = 1;
    }
  }
}

MotionDetector::Thing MotionDetector::flood(int x, int y) {
  Thing thing{x, y, x, y, 0};
  moving_[cell_at(x, y)] = 0;
  open_.assign(1, y * columns_ + x);
  while (!open_.empty()) {
    const int cell = open_.back(), cx = cell % columns_, cy = cell / columns_;
    open_.pop_back();
    ++thing.cells;
    thing.left = std::min(thing.left, cx);
    thing.right = std::max(thing.right, cx);
    thing.top = std::min(thing.top, cy);
    thing.bottom = std::max(thing.bottom, cy);
    for (int ny = std::max(cy - 1, 0); ny <= std::min(cy + 1, rows_ - 1); ++ny) {
      for (int nx = std::max(cx - 1, 0); nx <= std::min(cx + 1, columns_ - 1); ++nx) {
        std::uint8_t& next = moving_[cell_at(nx, ny)];
        if (next == 0) continue;
        next = 0;
        open_.push_back(ny * columns_ + nx);
      }
    }
  }
  return thing;
}

std::span<const Seen> MotionDetector::detect(const Picture& picture) {
  seen_.clear();
  if (picture.empty()) return {};
  compare(picture);
  for (int y = 0; y < rows_; ++y) {
    for (int x = 0; x < columns_; ++x) {
      if (moving_[cell_at(x, y)] == 0) continue;
      const Thing thing = flood(x, y);
      // Without the neighbours that compare() added all around.
      const int width = thing.right - thing.left - 1, height = thing.bottom - thing.top - 1;
      if (width < 1 || height < kLeastHeight || thing.cells < kLeastCells) continue;
      if (static_cast<float>(height) < kUpright * static_cast<float>(width) || seen_.size() >= kMostThings) continue;
      const float filled = static_cast<float>(thing.cells) / static_cast<float>((width + 2) * (height + 2));
      seen_.push_back({static_cast<float>((thing.left + 1) * kCell), static_cast<float>((thing.top + 1) * kCell),
                       static_cast<float>(width * kCell), static_cast<float>(height * kCell), filled, "person"});
    }
  }
  return seen_;
}

}  // namespace cardan::street
