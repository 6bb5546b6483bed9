// SPDX-License-Identifier: Apache-2.0
// The cost of words that no honest publisher writes. (Honest ones: tests/checker.)
#include "src/transport/protocol/slot_protocol.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "cardan/detail/atomic.hpp"

namespace {

using cardan::Atomic;
using cardan::Native;
using cardan::Site;

constexpr std::uint32_t kDepth = 64;
constexpr std::uint32_t kSlots = 128;

struct HostileWords {
  Atomic<std::uint64_t> latest{0};
  std::array<Atomic<std::uint64_t>, kDepth> ring{};
  std::array<Atomic<std::uint64_t>, kSlots> sequence{};
  std::uint64_t newest = 0;
  std::uint64_t looks = 0;

  /// Publishes a whole window of entries, but never a slot's sequence: each entry looks as if its slot were refilled.
  void publish_a_window() {
    for (std::uint32_t k = 0; k < kDepth; ++k) {
      ++newest;
      ring[newest % kDepth] = cardan::protocol::pack({newest, static_cast<std::uint32_t>(newest % kSlots)});
    }
    latest = cardan::protocol::pack({newest, static_cast<std::uint32_t>(newest % kSlots)});
  }
};
HostileWords* hostile = nullptr;

/// The publisher is as fast as it likes: whenever the reader looks for the newest entry there is a newer one.
struct BesideHostile : Native {
  template <Site S, class T>
  static T load(const Word<T>& word) noexcept {
    if constexpr (S == Site::R1) hostile->publish_a_window();
    return Native::load<S>(word);
  }
  template <Site S, class T>
  static T add(Word<T>& word, T value) noexcept {
    if constexpr (S == Site::R2) ++hostile->looks;
    return Native::add<S>(word, value);
  }
};

TEST(SlotProtocol, ATakeLooksAtABoundedNumberOfEntries) {
  HostileWords words;
  hostile = &words;
  const cardan::protocol::ReaderRing<BesideHostile> ring{
      &words.latest, words.ring.data(), words.sequence.data(), sizeof(words.sequence[0]), kDepth, kSlots};
  std::array<Atomic<std::uint64_t>, kSlots / Native::kSlotsPerHoldWord> hold{};
  Atomic<std::uint64_t> cursor{0};
  const cardan::protocol::Taken taken = cardan::protocol::take<BesideHostile>(ring, hold.data(), cursor, kDepth);
  EXPECT_EQ(taken.outcome, cardan::protocol::Outcome::Corrupt);
  EXPECT_GT(words.looks, 8U * kDepth) << "an honest publisher may lap a reader a few times";
  EXPECT_LE(words.looks, cardan::protocol::kMostLooks + 9U * kDepth);
  for (const auto& word : hold) EXPECT_EQ(word.load(), 0U);
}

}  // namespace
