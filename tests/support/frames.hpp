// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "cardan/publisher.hpp"
#include "cardan/subscriber.hpp"

/// Frames in which every 8-byte word follows from the frame's writer and number.
namespace cardan::test {

struct Small {  // 128 bytes
  std::uint64_t key;
  std::array<std::uint64_t, 15> words;
};
struct Big {
  std::uint64_t key;
  shm::vector<std::uint64_t> words;
};

/// Number n (from 1, as sequence() counts) of writer `who` (below 2^20).
constexpr std::uint64_t key_of(std::uint64_t who, std::uint64_t n) { return (who << 44) | n; }
constexpr std::uint64_t writer_of(std::uint64_t key) { return key >> 44; }
constexpr std::uint64_t number_of(std::uint64_t key) { return key & ((std::uint64_t{1} << 44) - 1); }

inline void fill(std::span<std::uint64_t> words, std::uint64_t key) noexcept {
  std::uint64_t w = key * 0x9e3779b97f4a7c15ULL;
  for (auto& word : words) word = w += 0xbf58476d1ce4e5b9ULL;
}
inline bool intact(std::span<const std::uint64_t> words, std::uint64_t key) noexcept {
  std::uint64_t w = key * 0x9e3779b97f4a7c15ULL;
  std::uint64_t wrong = 0;
  for (const auto& word : words) wrong |= word ^ (w += 0xbf58476d1ce4e5b9ULL);
  return wrong == 0;
}

inline void fill(Small& m, std::uint64_t key, std::size_t) noexcept {
  m.key = key;
  fill(std::span<std::uint64_t>(m.words), key);
}
inline void fill(Big& m, std::uint64_t key, std::size_t count) {
  m.key = key;
  m.words.resize(count);
  fill(m.words.span(), key);
}
inline bool intact(const Small& m) noexcept { return intact(std::span<const std::uint64_t>(m.words), m.key); }
inline bool intact(const Big& m) noexcept { return intact(m.words.span(), m.key); }

/// Whole, its words its own, and numbered as its stream numbers it.
template <class T>
bool intact(const Sample<T>& sample) noexcept {
  return intact(*sample) && number_of(sample->key) == sample.sequence();
}

/// Fills and publishes the next frame (`count` words where it has a vector); false: no loan or not in time.
template <class T>
bool publish_next(Publisher<T>& out, std::uint64_t who, std::size_t count) {
  auto loan = out.loan();
  if (!loan) return false;
  fill(*loan, key_of(who, out.published() + 1), count);
  return out.publish(std::move(loan));
}

}  // namespace cardan::test

CARDAN_MESSAGE(cardan::test::Small, "test_msgs/msg/Small", key, words);
CARDAN_MESSAGE(cardan::test::Big, "test_msgs/msg/Big", key, words);
