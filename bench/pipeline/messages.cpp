// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/messages.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace cardan::bench::perception {
namespace {

constexpr std::size_t kHeadWords = 8;

// The number at its place in shared memory, which others may write meanwhile.
std::uint64_t read_now(const std::uint64_t& word) noexcept { return static_cast<const volatile std::uint64_t&>(word); }
void write_now(std::uint64_t& word, std::uint64_t value) noexcept {
  std::atomic_thread_fence(std::memory_order_release);
  static_cast<volatile std::uint64_t&>(word) = value;
  std::atomic_thread_fence(std::memory_order_release);
}

}  // namespace

std::span<std::uint8_t> begin_picture(std::span<std::uint64_t> words, std::uint64_t number, std::uint32_t width,
                                      std::uint32_t height) noexcept {
  const std::size_t pixels = std::size_t{width} * height * 3;
  if (words.size() * sizeof(std::uint64_t) < picture_bytes(width, height)) return {};
  write_now(words.front(), number);
  words[1] = std::uint64_t{width} << 32U | height;
  return {reinterpret_cast<std::uint8_t*>(words.data() + kHeadWords), pixels};
}

void end_picture(std::span<std::uint64_t> words, std::uint64_t number) noexcept {
  if (!words.empty()) write_now(words.back(), number);
}

std::optional<Picture> picture_of(std::span<const std::uint64_t> words) noexcept {
  if (words.size() <= kHeadWords) return std::nullopt;
  const std::uint64_t number = read_now(words.front());
  const std::uint64_t size = read_now(words[1]);
  const auto width = static_cast<std::uint32_t>(size >> 32U);
  const auto height = static_cast<std::uint32_t>(size & 0xFFFFFFFFU);
  if (number == 0 || width == 0 || height == 0 || width > kLargestSide || height > kLargestSide) return std::nullopt;
  if (picture_bytes(width, height) > words.size() * sizeof(std::uint64_t) || read_now(words.back()) != number)
    return std::nullopt;
  return Picture{number, width, height, reinterpret_cast<const std::uint8_t*>(words.data() + kHeadWords)};
}

bool is_intact(std::span<const std::uint64_t> words, std::uint64_t number) noexcept {
  std::atomic_thread_fence(std::memory_order_acquire);
  return !words.empty() && read_now(words.front()) == number && read_now(words.back()) == number;
}

void write_result(std::span<std::uint64_t> words, const Result& result) noexcept {
  if (words.size() * sizeof(std::uint64_t) < sizeof(Result)) return;
  Result whole = result;
  whole.again = result.number;
  std::memcpy(words.data(), &whole, sizeof whole);
}

std::optional<Result> read_result(std::span<const std::uint64_t> words) noexcept {
  if (words.size() * sizeof(std::uint64_t) < sizeof(Result)) return std::nullopt;
  Result result;
  std::memcpy(static_cast<void*>(&result), words.data(), sizeof result);
  const bool known = std::find(kFinders.begin(), kFinders.end(), result.stage) != kFinders.end();
  if (!known || result.number == 0 || result.again != result.number || result.count > Result::kMostBoxes)
    return std::nullopt;
  return result;
}

}  // namespace cardan::bench::perception
