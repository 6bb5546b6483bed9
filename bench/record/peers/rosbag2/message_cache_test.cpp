// SPDX-License-Identifier: Apache-2.0
#include "bench/record/peers/rosbag2/message_cache.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "bench/record/peers/rosbag2/message_queue.hpp"

namespace cardan::bench::rosbag2 {
namespace {

MessagePointer message(std::size_t bytes, std::uint16_t topic = 0, std::int64_t time = 0) {
  auto out = std::make_shared<Message>();
  out->topic = topic;
  out->time_ns = time;
  out->bytes = bytes;
  return out;
}

TEST(MessageCache, TheOneThatFillsItIsStillTaken) {
  MessageCache cache(1000, 1);
  EXPECT_TRUE(cache.push(message(900)));
  EXPECT_TRUE(cache.push(message(5000))) << "it held less than its limit before";
  EXPECT_FALSE(cache.push(message(1)));
  EXPECT_EQ(cache.swap().size(), 2U);
}

TEST(MessageCache, FullForOneTopicIsFullForAll) {
  MessageCache cache(1000, 2);
  EXPECT_TRUE(cache.push(message(1000, 0)));
  EXPECT_FALSE(cache.push(message(5'000'000, 0)));
  EXPECT_FALSE(cache.push(message(1, 1))) << "rosbag2 drops the IMU with the camera";
  EXPECT_FALSE(cache.push(message(1, 1)));
  EXPECT_EQ(cache.dropped(), (std::vector<std::uint64_t>{1, 2}));
}

TEST(MessageCache, ItTakesAgainWhileTheOtherHalfIsWritten) {
  MessageCache cache(1000, 1);
  EXPECT_TRUE(cache.push(message(1000, 0, 1)));
  EXPECT_FALSE(cache.push(message(1, 0, 2)));
  const auto& writing = cache.swap();
  ASSERT_EQ(writing.size(), 1U);
  EXPECT_TRUE(cache.push(message(1000, 0, 3)));
  EXPECT_FALSE(cache.push(message(1, 0, 4))) << "both halves are full: until the first is written, all are dropped";
  EXPECT_EQ(writing[0]->time_ns, 1) << "what is being written stays";
  cache.written();
  const auto& next = cache.swap();
  ASSERT_EQ(next.size(), 1U);
  EXPECT_EQ(next[0]->time_ns, 3);
  EXPECT_EQ(cache.dropped()[0], 2U);
}

TEST(MessageCache, FinishGivesTheRestAndThenNothing) {
  MessageCache cache(1000, 1);
  cache.push(message(10));
  cache.finish();
  EXPECT_EQ(cache.swap().size(), 1U);
  cache.written();
  EXPECT_TRUE(cache.swap().empty());
}

TEST(MessageCache, EveryMessageIsWrittenOrCounted) {
  constexpr int kMessages = 20'000;
  MessageCache cache(2000, 2);
  std::uint64_t written = 0;
  std::thread writer([&] {
    for (;;) {
      const auto& messages = cache.swap();
      if (messages.empty()) return;
      written += messages.size();
      cache.written();
    }
  });
  std::uint64_t taken = 0;
  for (int n = 0; n < kMessages; ++n) taken += cache.push(message(100, static_cast<std::uint16_t>(n % 2))) ? 1U : 0U;
  cache.finish();
  writer.join();
  EXPECT_EQ(written, taken);
  EXPECT_EQ(taken + cache.dropped()[0] + cache.dropped()[1], static_cast<std::uint64_t>(kMessages));
}

TEST(MessageQueue, HoldsElevenAndCountsWhatIsMore) {
  MessageQueue queue;
  for (int n = 0; n < 11; ++n) EXPECT_TRUE(queue.push(message(1, 0, n))) << n;
  EXPECT_FALSE(queue.push(message(1)));
  EXPECT_FALSE(queue.push(message(1)));
  EXPECT_EQ(queue.dropped(), 2U);
  EXPECT_EQ(queue.pop()->time_ns, 0) << "the oldest first";
  EXPECT_TRUE(queue.push(message(1)));
  for (int n = 0; n < 11; ++n) EXPECT_NE(queue.pop(), nullptr);
  EXPECT_EQ(queue.pop(), nullptr);
}

}  // namespace
}  // namespace cardan::bench::rosbag2
