// SPDX-License-Identifier: Apache-2.0
#include "src/transforms/two_sides.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace cardan::detail {
namespace {

using State = std::array<std::uint64_t, 32>;

TEST(TwoSides, AChangeIsSeenAtOnce) {
  TwoSides<State> sides;
  for (std::uint64_t n = 1; n < 100; ++n) {
    sides.write([&](State& state) { state.fill(n); });
    EXPECT_EQ(sides.read([](const State& state) noexcept { return state[7]; }), n);
    EXPECT_EQ(sides.mine()[0], n);
  }
}

TEST(TwoSides, ReadersSeeWholeStates) {
  TwoSides<State> sides;
  std::atomic<bool> ended{false};
  std::atomic<std::uint64_t> torn{0}, backwards{0}, reads{0};
  std::vector<std::jthread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&] {
      std::uint64_t last = 0;
      while (!ended.load()) {
        const State seen = sides.read([](const State& state) noexcept { return state; });
        for (const std::uint64_t word : seen) torn += word != seen[0] ? 1 : 0;
        backwards += seen[0] < last ? 1 : 0;
        last = seen[0];
        ++reads;
      }
    });
  for (std::uint64_t n = 1; n <= 2000 || reads.load() < 2000; ++n) sides.write([&](State& state) { state.fill(n); });
  ended = true;
  readers.clear();
  EXPECT_EQ(torn.load(), 0U);
  EXPECT_EQ(backwards.load(), 0U);
}

}  // namespace
}  // namespace cardan::detail
