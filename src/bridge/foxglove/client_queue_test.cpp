// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/client_queue.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace cardan::bridge::foxglove {
namespace {

using Subscribed = ClientQueue::Subscribed;
constexpr std::size_t kLarge = kSmallBytes + 1;

FramePtr frame(std::uint64_t sequence, std::size_t bytes) {
  auto made = std::make_shared<OutgoingFrame>();
  made->sequence = sequence;
  made->cdr.prefix.resize(bytes);
  return made;
}

TEST(FoxgloveQueue, OfALargeChannelTheNewestWaits) {
  ClientQueue queue;
  ASSERT_EQ(queue.subscribe(7, 1, 1), Subscribed::Yes);
  EXPECT_EQ(queue.offer(1, frame(1, kLarge)), 0U);
  EXPECT_EQ(queue.offer(1, frame(2, kLarge)), 1U);
  EXPECT_EQ(queue.offer(1, frame(3, kLarge)), 1U);
  EXPECT_EQ(queue.waiting(), 1U);
  const auto next = queue.next();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->id, 7U);
  EXPECT_EQ(next->frame->sequence, 3U);
  EXPECT_FALSE(queue.next());
}

TEST(FoxgloveQueue, AFrameThatGaveWayIsReleasedAtOnce) {
  ClientQueue queue;
  ASSERT_EQ(queue.subscribe(1, 1, 1), Subscribed::Yes);
  FramePtr first = frame(1, kLarge);
  const std::weak_ptr<const OutgoingFrame> watched = first;
  queue.offer(1, first);
  first.reset();
  queue.offer(1, frame(2, kLarge));
  EXPECT_TRUE(watched.expired());
}

TEST(FoxgloveQueue, ChannelsTakeTurns) {
  ClientQueue queue;
  for (std::uint32_t channel = 1; channel <= 3; ++channel)
    ASSERT_EQ(queue.subscribe(channel + 10, channel, 1), Subscribed::Yes);
  std::vector<std::uint32_t> order;
  for (int i = 0; i < 9; ++i) {
    for (std::uint32_t channel = 1; channel <= 3; ++channel) queue.offer(channel, frame(1, kLarge));  // all are fast
    order.push_back(queue.next()->channel);
  }
  EXPECT_EQ(order, (std::vector<std::uint32_t>{1, 2, 3, 1, 2, 3, 1, 2, 3}));
}

TEST(FoxgloveQueue, SmallMessagesWaitInOrderUpToABound) {
  ClientQueue queue;
  ASSERT_EQ(queue.subscribe(1, 1, 1), Subscribed::Yes);
  std::size_t gave_way = 0;
  for (std::uint64_t i = 1; i <= kSmallOfOneChannel + 5; ++i) gave_way += queue.offer(1, frame(i, 100));
  EXPECT_EQ(gave_way, 5U);
  for (std::uint64_t i = 6; i <= kSmallOfOneChannel + 5; ++i) EXPECT_EQ(queue.next()->frame->sequence, i);
  EXPECT_FALSE(queue.next());
}

TEST(FoxgloveQueue, SmallMessagesOfManyChannelsAreBoundedToo) {
  ClientQueue queue;
  constexpr std::uint32_t kChannels = 100;
  for (std::uint32_t c = 1; c <= kChannels; ++c) ASSERT_EQ(queue.subscribe(c, c, 1), Subscribed::Yes);
  for (std::size_t i = 0; i < kSmallOfOneChannel; ++i)
    for (std::uint32_t c = 1; c <= kChannels; ++c) queue.offer(c, frame(i, kSmallBytes));
  EXPECT_LE(queue.waiting() * kSmallBytes, kSmallOfOneClient + kChannels * kSmallBytes);
  EXPECT_GE(queue.waiting(), kChannels) << "each channel keeps its newest";
}

TEST(FoxgloveQueue, IdsAndChannelsAreTakenOnce) {
  ClientQueue queue;
  EXPECT_EQ(queue.subscribe(1, 5, 1), Subscribed::Yes);
  EXPECT_EQ(queue.subscribe(1, 6, 1), Subscribed::IdIsTaken);
  EXPECT_EQ(queue.subscribe(2, 5, 1), Subscribed::ChannelIsTaken);
  EXPECT_EQ(queue.unsubscribe(9), std::nullopt);
  queue.offer(5, frame(1, kLarge));
  EXPECT_EQ(queue.unsubscribe(1), 5U);
  EXPECT_EQ(queue.waiting(), 0U);
  EXPECT_FALSE(queue.next());
  EXPECT_EQ(queue.subscribe(1, 5, 1), Subscribed::Yes);
  queue.offer(5, frame(2, 10));
  queue.drop(5);
  queue.drop(5);
  EXPECT_FALSE(queue.next());
}

}  // namespace
}  // namespace cardan::bridge::foxglove
