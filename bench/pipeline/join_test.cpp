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
  constexpr std::uint32_t kWidth = 10;
  constexpr std::uint32_t kHeight = 7;
  std::vector<std::uint64_t> words(picture_bytes(kWidth, kHeight) / 8);
  EXPECT_FALSE(picture_of(words));
  auto pixels = begin_picture(words, 5, kWidth, kHeight);
  ASSERT_EQ(pixels.size(), std::size_t{kWidth} * kHeight * 3);
  EXPECT_FALSE(picture_of(words)) << "not finished";
  pixels.back() = 200;
  end_picture(words, 5);
  const auto picture = picture_of(words);
  ASSERT_TRUE(picture);
  EXPECT_EQ(picture->number, 5U);
  EXPECT_EQ(picture->width, kWidth);
  EXPECT_EQ(picture->height, kHeight);
  EXPECT_EQ(picture->pixels[pixels.size() - 1], 200);
  EXPECT_TRUE(is_intact(words, 5));
  static_cast<void>(begin_picture(words, 7, kWidth, kHeight));  // the next one into the same memory
  EXPECT_FALSE(is_intact(words, 5));
}

TEST(Messages, ASizeThatDoesNotFitIsRefused) {
  std::vector<std::uint64_t> words(picture_bytes(10, 7) / 8);
  EXPECT_TRUE(begin_picture(words, 1, 10, 8).empty());
  static_cast<void>(begin_picture(words, 1, 10, 7));
  end_picture(words, 1);
  for (const std::uint64_t size : {std::uint64_t{0}, (std::uint64_t{4000} << 32U) | 4000U, ~std::uint64_t{0}}) {
    words[1] = size;
    EXPECT_FALSE(picture_of(words)) << size;
  }
  EXPECT_FALSE(picture_of(std::span(words).first(3)));
}

TEST(Messages, AResultComesBackAndAWrongOneDoesNot) {
  Result result = result_of(Stage::Tracker, 9);
  for (int i = 0; i < 20; ++i) result.add({.x = static_cast<float>(i)});
  EXPECT_EQ(result.count, Result::kMostBoxes);
  std::vector<std::uint64_t> words(kResultBytes / 8);
  EXPECT_FALSE(read_result(words));
  write_result(words, result);
  const auto read = read_result(words);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->number, 9U);
  EXPECT_EQ(read->stage, Stage::Tracker);
  EXPECT_EQ(read->found().back().x, 15.0F);
  words[0] = 10;
  EXPECT_FALSE(read_result(words)) << "torn";
  words[0] = 9;
  result.stage = Stage::Fusion;
  write_result(words, result);
  EXPECT_FALSE(read_result(words)) << "it gives no results";
}

}  // namespace
}  // namespace cardan::bench::perception
