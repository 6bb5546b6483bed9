// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/join.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cardan::bench::perception {
namespace {

Result result_of(Stage stage, std::uint64_t number) {
  Result result;
  result.number = number;
  result.stage = stage;
  return result;
}

TEST(FrameJoin, JoinsWhatHasTheSameNumber) {
  FrameJoin join;
  EXPECT_EQ(join.add(result_of(Stage::Lane, 1)), nullptr);
  EXPECT_EQ(join.add(result_of(Stage::Lane, 2)), nullptr);
  EXPECT_EQ(join.add(result_of(Stage::Tracker, 1)), nullptr);
  const Results* const all = join.add(result_of(Stage::Detector, 1));
  ASSERT_NE(all, nullptr);
  for (const Stage finder : kFinders) {
    EXPECT_EQ((*all)[place_of(finder)].number, 1U);
    EXPECT_EQ((*all)[place_of(finder)].stage, finder);
  }
  EXPECT_EQ(join.completed(), 1U);
}

TEST(FrameJoin, AFrameThatOneStageLostStaysIncompleteAndDelaysNoOther) {
  FrameJoin join;
  std::vector<std::uint64_t> complete;
  for (std::uint64_t n = 1; n <= 200; ++n)
    for (const Stage finder : kFinders) {
      if (finder == Stage::Detector && n % 10 == 0) continue;  // it loses each tenth
      if (const Results* const all = join.add(result_of(finder, n))) complete.push_back(all->front().number);
    }
  EXPECT_EQ(complete.size(), 180U);
  for (const std::uint64_t n : complete) EXPECT_NE(n % 10, 0U);
  EXPECT_EQ(join.completed(), 180U);
  EXPECT_EQ(join.given_up(), 13U) << "of 10 … 200 those that a frame 64 later has displaced: 10 … 130";
  EXPECT_EQ(join.unusable(), 0U);
}

TEST(FrameJoin, ResultsThatComeTwiceOrTooLateAreCountedAndCompleteNothing) {
  FrameJoin join;
  EXPECT_EQ(join.add(result_of(Stage::Lane, 1)), nullptr);
  EXPECT_EQ(join.add(result_of(Stage::Lane, 1)), nullptr);
  EXPECT_EQ(join.unusable(), 1U);
  EXPECT_EQ(join.add(result_of(Stage::Lane, 1 + FrameJoin::kWindow)), nullptr);
  EXPECT_EQ(join.given_up(), 1U);
  EXPECT_EQ(join.add(result_of(Stage::Detector, 1)), nullptr);
  EXPECT_EQ(join.add(result_of(Stage::Tracker, 1)), nullptr);
  EXPECT_EQ(join.unusable(), 3U);
  EXPECT_EQ(join.completed(), 0U);
}

TEST(Fusion, CountsObjectsBetweenTheLines) {
  Results results{result_of(Stage::Lane, 1), result_of(Stage::Detector, 1), result_of(Stage::Tracker, 1)};
  results[0].lanes = {LaneLine{300, 200, 100, 400}, LaneLine{340, 200, 540, 400}};
  results[1].add({.x = 290, .y = 200, .width = 40, .height = 150});           // at (310, 350): between 150 and 490
  results[1].add({.x = 10, .y = 200, .width = 40, .height = 150});            // next to the road
  results[2].add({.x = 292, .y = 202, .width = 40, .height = 150, .id = 1});  // the first one's track
  results[2].add({.x = 380, .y = 250, .width = 40, .height = 100, .id = 2});  // seen by nobody else, in the lane
  const Fused fused = fuse(results);
  EXPECT_TRUE(fused.has_lanes);
  EXPECT_EQ(fused.seen, 2U);
  EXPECT_EQ(fused.followed, 1U);
  EXPECT_EQ(fused.in_lane, 2U);
  results[0].lanes[1] = {};
  EXPECT_FALSE(fuse(results).has_lanes);
  EXPECT_EQ(fuse(results).in_lane, 0U);
}

TEST(Messages, AChangedPictureIsNoticed) {
  const Picture head{.width = 10, .height = 7};
  std::vector<std::uint64_t> words(picture_bytes(10, 7) / 8);
  EXPECT_FALSE(is_intact(words, number_of(words))) << "nothing was written";
  std::byte* const pixels = put(std::span(words), head, head.pixels());
  ASSERT_NE(pixels, nullptr);
  EXPECT_FALSE(is_intact(words, 5)) << "not finished";
  pixels[head.pixels() - 1] = std::byte{200};
  sign(words, 5);
  const auto picture = get<Picture>(words);
  ASSERT_TRUE(picture);
  EXPECT_EQ(picture->number, 5U);
  EXPECT_EQ(picture->width, 10U);
  EXPECT_EQ(picture->height, 7U);
  EXPECT_EQ(after<Picture>(words)[head.pixels() - 1], std::byte{200});
  EXPECT_TRUE(is_intact(words, 5));
  static_cast<void>(put(std::span(words), head, head.pixels()));  // the next one into the same memory
  EXPECT_FALSE(is_intact(words, 5));
}

TEST(Messages, ASizeThatDoesNotFitIsRefused) {
  std::vector<std::uint64_t> words(picture_bytes(10, 7) / 8);
  EXPECT_EQ(put(std::span(words), Picture{}, 10 * 8 * 3), nullptr);
  static_cast<void>(put(std::span(words), Picture{.width = 10, .height = 7}, 10 * 7 * 3));
  sign(words, 1);
  EXPECT_TRUE(get<Picture>(words));
  for (const std::uint64_t size : {std::uint64_t{0}, (std::uint64_t{4000} << 32U) | 4000U, ~std::uint64_t{0}}) {
    words[1] = size;
    EXPECT_FALSE(get<Picture>(words)) << size;
  }
  EXPECT_FALSE(get<Picture>(std::span(words).first(3)));
  EXPECT_EQ(number_of({}), 0U);
}

TEST(Messages, AResultComesBackAndAWrongOneDoesNot) {
  Result result = result_of(Stage::Tracker, 9);
  for (int i = 0; i < 20; ++i) result.add({.x = static_cast<float>(i)});
  EXPECT_EQ(result.count, Result::kMostBoxes);
  std::vector<std::uint64_t> words(kResultBytes / 8);
  ASSERT_NE(put(std::span(words), result), nullptr);
  sign(words, 9);
  const auto read = get<Result>(words);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->number, 9U);
  EXPECT_EQ(read->stage, Stage::Tracker);
  EXPECT_EQ(read->found().back().x, 15.0F);
  words[0] = 10;
  EXPECT_FALSE(is_intact(words, 10)) << "torn";
  result.stage = Stage::Fusion;
  static_cast<void>(put(std::span(words), result));
  EXPECT_FALSE(get<Result>(words)) << "it gives no results";
}

}  // namespace
}  // namespace cardan::bench::perception
