// SPDX-License-Identifier: Apache-2.0
// The messages of the links: a picture, and a result of a fixed size. Both have the frame's number at the beginning and
// at the end. A peer without protection can change a message under its reader's hands; the numbers show that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "bench/pipeline/graph.hpp"

namespace cardan::bench::perception {

/// A picture: 8-bit BGR, rows without gaps.
struct Picture {
  std::uint64_t number = 0;  ///< from 1
  std::uint32_t width = 0, height = 0;
  const std::uint8_t* pixels = nullptr;
};

inline constexpr std::uint32_t kLargestSide = 16384;        ///< of a picture, in pixels
inline constexpr std::size_t kLargestPicture = 64U << 20U;  ///< bytes of a message

/// Of a message with a picture of this size.
[[nodiscard]] constexpr std::size_t picture_bytes(std::uint32_t width, std::uint32_t height) noexcept {
  const std::size_t pixels = std::size_t{width} * height * 3;
  return 64 + (pixels + 7) / 8 * 8 + 8;
}

/// Writes number and size, and gives the memory for the pixels. The message is whole after end_picture().
[[nodiscard]] std::span<std::uint8_t> begin_picture(std::span<std::uint64_t> words, std::uint64_t number,
                                                    std::uint32_t width, std::uint32_t height) noexcept;
void end_picture(std::span<std::uint64_t> words, std::uint64_t number) noexcept;
/// Returns an empty value if the message does not hold a whole picture. Never reads beyond `words`, whatever they hold.
[[nodiscard]] std::optional<Picture> picture_of(std::span<const std::uint64_t> words) noexcept;
/// Whether the message is still that of frame `number`: asked after the pixels were used.
[[nodiscard]] bool is_intact(std::span<const std::uint64_t> words, std::uint64_t number) noexcept;

/// A line in the picture, in pixels; all 0: not found.
struct LaneLine {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  [[nodiscard]] bool found() const noexcept { return y0 != y1; }
};

/// A box in pixels.
struct Box {
  float x = 0, y = 0, width = 0, height = 0;
  float score = 0;
  std::uint32_t id = 0;  ///< of a track
};

/// A stage's findings in a frame.
struct Result {
  static constexpr std::size_t kMostBoxes = 16;

  std::uint64_t number = 0;
  Stage stage = Stage::Lane;
  std::uint32_t count = 0;          ///< boxes
  std::array<LaneLine, 2> lanes{};  ///< left and right of the vehicle
  std::array<Box, kMostBoxes> boxes{};
  std::uint64_t again = 0;  ///< the number, written last

  void add(const Box& box) noexcept {
    if (count < kMostBoxes) boxes[count++] = box;
  }
  [[nodiscard]] std::span<const Box> found() const noexcept { return std::span(boxes).first(count); }
};
static_assert(sizeof(Result) % sizeof(std::uint64_t) == 0);
/// Of a message with a result.
inline constexpr std::size_t kResultBytes = 512;
static_assert(sizeof(Result) <= kResultBytes);

/// Of a message of each link of the camera's pipeline.
[[nodiscard]] constexpr std::array<std::size_t, kLinkCount> camera_link_bytes(std::size_t picture) noexcept {
  return {picture, kResultBytes, kResultBytes};
}

void write_result(std::span<std::uint64_t> words, const Result& result) noexcept;
/// Returns an empty value if the message does not hold a whole result of a stage that gives one.
[[nodiscard]] std::optional<Result> read_result(std::span<const std::uint64_t> words) noexcept;

}  // namespace cardan::bench::perception
