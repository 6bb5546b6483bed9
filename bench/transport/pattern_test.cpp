// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/pattern.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cardan::bench {
namespace {

TEST(Pattern, ReadsBackWhoSentIt) {
  for (const std::size_t words : {2U, 16U, 17U, 4096U}) {
    std::vector<std::uint64_t> payload(words);
    fill_frame(payload, {.publisher = 4, .number = 123'456});
    const auto got = check_frame(payload);
    EXPECT_TRUE(got.intact) << words;
    EXPECT_EQ(got.id.publisher, 4U);
    EXPECT_EQ(got.id.number, 123'456U);
  }
}

TEST(Pattern, FilledInTwoStepsIsTheSame) {
  std::vector<std::uint64_t> whole(100);
  std::vector<std::uint64_t> parts(100);
  const FrameId id{.publisher = 1, .number = 7};
  fill_frame(whole, id);
  for (const std::size_t cut : {0U, 1U, 60U, 100U}) {
    fill_frame(std::span(parts).first(cut), id);
    fill_frame_from(parts, cut, id);
    EXPECT_EQ(whole, parts) << cut;
  }
}

TEST(Pattern, AnyWordOfAnotherFrameShows) {
  std::vector<std::uint64_t> mine(64);
  std::vector<std::uint64_t> other(64);
  fill_frame(mine, {.publisher = 0, .number = 10});
  for (const std::uint64_t number : {8U, 9U, 11U, 12U}) {
    fill_frame(other, {.publisher = 0, .number = number});
    for (std::size_t i = 0; i < mine.size(); ++i) {
      auto torn = mine;
      torn[i] = other[i];
      EXPECT_FALSE(check_frame(torn).intact) << "word " << i << " of frame " << number;
    }
  }
}

TEST(Pattern, AnotherPublishersWordShows) {
  std::vector<std::uint64_t> mine(16);
  std::vector<std::uint64_t> other(16);
  fill_frame(mine, {.publisher = 1, .number = 10});
  fill_frame(other, {.publisher = 2, .number = 10});
  mine[15] = other[15];
  EXPECT_FALSE(check_frame(mine).intact);
}

TEST(Pattern, NothingIsNotIntact) { EXPECT_FALSE(check_frame({}).intact); }

}  // namespace
}  // namespace cardan::bench
