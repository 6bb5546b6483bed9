// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/shape_shelf.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace cardan::bridge::foxglove {
namespace {

constexpr Shape kFewPixels{Shape::Kind::Picture, 320}, kMorePixels{Shape::Kind::Picture, 640};

TEST(FoxgloveShapeShelf, WhatWasMadeOfTheNewestMessageIsThereForTheNextPage) {
  ShapeShelf shelf;
  EXPECT_EQ(shelf.number(), 0U);
  const FramePtr first = std::make_shared<OutgoingFrame>(), picture = std::make_shared<OutgoingFrame>();
  shelf.offer(first);
  EXPECT_EQ(shelf.find(kFewPixels), nullptr);
  shelf.keep(shelf.number(), kFewPixels, picture);
  EXPECT_EQ(shelf.find(kFewPixels), picture);
  EXPECT_EQ(shelf.find(kMorePixels), nullptr);
  shelf.offer(std::make_shared<OutgoingFrame>());
  EXPECT_EQ(shelf.find(kFewPixels), nullptr) << "it is of the message before";
  shelf.keep(1, kFewPixels, picture);
  EXPECT_EQ(shelf.find(kFewPixels), nullptr) << "it came too late";
}

TEST(FoxgloveShapeShelf, AMessageThatComesAgainIsNotMadeAgain) {
  ShapeShelf shelf;
  const FramePtr latched = std::make_shared<OutgoingFrame>(), picture = std::make_shared<OutgoingFrame>();
  shelf.offer(latched);
  shelf.keep(1, kFewPixels, picture);
  shelf.let_go();
  EXPECT_EQ(shelf.newest(), nullptr);
  EXPECT_EQ(shelf.find(kFewPixels), picture);
  shelf.offer(latched);
  EXPECT_EQ(shelf.number(), 1U);
  EXPECT_EQ(shelf.find(kFewPixels), picture);
  shelf.clear();
  EXPECT_EQ(shelf.find(kFewPixels), nullptr);
}

TEST(FoxgloveShapeShelf, ItHoldsNoMessageThatNobodyWants) {
  ShapeShelf shelf;
  FramePtr frame = std::make_shared<OutgoingFrame>();
  const std::weak_ptr<const OutgoingFrame> watched = frame;
  shelf.offer(frame);
  frame.reset();
  EXPECT_FALSE(watched.expired());
  shelf.let_go();
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace cardan::bridge::foxglove
