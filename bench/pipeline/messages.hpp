// SPDX-License-Identifier: Apache-2.0
// The messages of the links. Each has the number of its frame in the first and in the last word. A peer without
// protection can change a message under its reader's hands; the numbers show that.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "bench/pipeline/graph.hpp"

namespace cardan::bench::perception {

using Words = std::span<const std::uint64_t>;  ///< of a message; others may write them meanwhile
using Room = std::span<std::uint64_t>;         ///< for a message

/// The number of a message; 0: it is not whole.
[[nodiscard]] inline std::uint64_t number_of(Words words) noexcept {
  return words.empty() ? 0 : static_cast<const volatile std::uint64_t&>(words.front());
}
/// Whether the message is whole and that of frame `number`: asked before and after it is used.
[[nodiscard]] inline bool is_intact(Words words, std::uint64_t number) noexcept {
  std::atomic_thread_fence(std::memory_order_acquire);
  return number != 0 && number_of(words) == number &&
         static_cast<const volatile std::uint64_t&>(words.back()) == number;
}
/// Gives the message its number, which completes it.
inline void sign(Room words, std::uint64_t number) noexcept {
  std::atomic_thread_fence(std::memory_order_release);
  static_cast<volatile std::uint64_t&>(words.front()) = number;
  std::atomic_thread_fence(std::memory_order_release);
  static_cast<volatile std::uint64_t&>(words.back()) = number;
  std::atomic_thread_fence(std::memory_order_release);
}

/// The size of a message: a head, as many bytes after it, and the last word.
template <class Head>
[[nodiscard]] constexpr std::size_t message_bytes(std::size_t more = 0) noexcept {
  return (sizeof(Head) + 7) / 8 * 8 + (more + 7) / 8 * 8 + sizeof(std::uint64_t);
}
/// Writes the head, and returns the memory for the bytes after it; null: they do not fit. sign() completes the message.
template <class Head>
[[nodiscard]] std::byte* put(Room words, const Head& head, std::size_t more = 0) noexcept {
  static_assert(std::is_trivially_copyable_v<Head>);
  if (words.size_bytes() < message_bytes<Head>(more)) return nullptr;
  static_cast<volatile std::uint64_t&>(words.front()) = 0;
  std::atomic_thread_fence(std::memory_order_release);
  std::byte* const bytes = std::as_writable_bytes(words).data();
  std::memcpy(bytes, &head, sizeof head);
  return bytes + sizeof head;
}
/// The head of a message. Empty: it does not fit or is not valid(). Never reads beyond `words`, whatever they hold.
template <class Head>
[[nodiscard]] std::optional<Head> get(Words words) noexcept {
  if (words.size_bytes() < message_bytes<Head>()) return std::nullopt;
  Head head;
  std::memcpy(static_cast<void*>(&head), words.data(), sizeof head);
  return head.valid(words.size_bytes()) ? std::optional(head) : std::nullopt;
}
/// The bytes after a head.
template <class Head>
[[nodiscard]] const std::byte* after(Words words) noexcept {
  return std::as_bytes(words).data() + sizeof(Head);
}

/// A picture: 8-bit BGR, rows without gaps after this head.
struct alignas(64) Picture {
  static constexpr std::uint32_t kLargestSide = 16384;      ///< in pixels
  static constexpr std::size_t kLargestBytes = 64U << 20U;  ///< of a message

  std::uint64_t number = 0;  ///< from 1
  std::uint32_t width = 0, height = 0;

  [[nodiscard]] std::size_t pixels() const noexcept { return std::size_t{width} * height * 3; }
  [[nodiscard]] bool valid(std::size_t bytes) const noexcept {
    return width > 0 && height > 0 && width <= kLargestSide && height <= kLargestSide &&
           message_bytes<Picture>(pixels()) <= bytes;
  }
};
/// Of a message with a picture of this size.
[[nodiscard]] constexpr std::size_t picture_bytes(std::uint32_t width, std::uint32_t height) noexcept {
  return message_bytes<Picture>(std::size_t{width} * height * 3);
}

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

  void add(const Box& box) noexcept {
    if (count < kMostBoxes) boxes[count++] = box;
  }
  [[nodiscard]] std::span<const Box> found() const noexcept { return std::span(boxes).first(count); }
  /// Of a stage that gives results.
  [[nodiscard]] bool valid(std::size_t /*bytes*/) const noexcept {
    return stage >= kFinders.front() && stage <= kFinders.back() && count <= kMostBoxes;
  }
};
/// Of a message with a result.
inline constexpr std::size_t kResultBytes = 512;
static_assert(message_bytes<Result>() <= kResultBytes);

}  // namespace cardan::bench::perception
