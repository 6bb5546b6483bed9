// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/preview_cache.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace cardan::bridge::foxglove {
namespace {

constexpr Preview kFewPixels{Preview::Kind::Picture, 320}, kMorePixels{Preview::Kind::Picture, 640};

TEST(FoxglovePreviewCache, APreviewOfTheNewestMessageIsThereForTheNextPage) {
  PreviewCache cache;
  EXPECT_EQ(cache.number(), 0U);
  const FramePtr first = std::make_shared<OutgoingFrame>(), picture = std::make_shared<OutgoingFrame>();
  cache.offer(first);
  EXPECT_EQ(cache.find(kFewPixels), nullptr);
  cache.keep(cache.number(), kFewPixels, picture);
  EXPECT_EQ(cache.find(kFewPixels), picture);
  EXPECT_EQ(cache.find(kMorePixels), nullptr);
  cache.offer(std::make_shared<OutgoingFrame>());
  EXPECT_EQ(cache.find(kFewPixels), nullptr) << "it is of the message before";
  cache.keep(1, kFewPixels, picture);
  EXPECT_EQ(cache.find(kFewPixels), nullptr) << "it came too late";
}

TEST(FoxglovePreviewCache, AMessageThatComesAgainIsNotMadeAgain) {
  PreviewCache cache;
  const FramePtr latched = std::make_shared<OutgoingFrame>(), picture = std::make_shared<OutgoingFrame>();
  cache.offer(latched);
  cache.keep(1, kFewPixels, picture);
  cache.let_go();
  EXPECT_EQ(cache.newest(), nullptr);
  EXPECT_EQ(cache.find(kFewPixels), picture);
  cache.offer(latched);
  EXPECT_EQ(cache.number(), 1U);
  EXPECT_EQ(cache.find(kFewPixels), picture);
  cache.clear();
  EXPECT_EQ(cache.find(kFewPixels), nullptr);
}

TEST(FoxglovePreviewCache, ItHoldsNoMessageThatNobodyWants) {
  PreviewCache cache;
  FramePtr frame = std::make_shared<OutgoingFrame>();
  const std::weak_ptr<const OutgoingFrame> watched = frame;
  cache.offer(frame);
  frame.reset();
  EXPECT_FALSE(watched.expired());
  cache.let_go();
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace cardan::bridge::foxglove
