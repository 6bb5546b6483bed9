// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/recorded_topics.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "cardan/message.hpp"
#include "cardan/messages/sensors.hpp"

namespace cardan::record {
namespace {

/// Topics that no publisher has: their queues are filled by hand.
class RecordedTopicsTest : public testing::Test {
 protected:
  /// Its number.
  std::size_t add(const std::string& name) {
    const detail::MessageType imu = detail::message_type_of<Imu>();
    TopicSource source{.name = name,
                       .type = imu.name,
                       .schema = imu.schema,
                       .type_hash = imu.hash,
                       .message_bytes = imu.bytes,
                       .max_bytes = 1 << 20};
    auto framing = Framing::of(source);
    EXPECT_TRUE(framing);
    RecordedTopics::List found;
    found.push_back(std::make_unique<TopicQueue>(std::move(source), std::move(*framing), options_));
    topics_.adopt(std::move(found));
    return topics_.size() - 1;
  }
  void push_frame(std::size_t topic, std::uint64_t bytes, std::uint64_t log_time) {
    TopicQueue& queue = topics_[topic];
    queue.note_queued(1, bytes);
    ++queue.held;
    queue.waiting.push_back({.bytes = bytes, .taken_ns = static_cast<std::int64_t>(log_time), .log_time = log_time});
  }
  void expect_empty(std::size_t topic) {
    const TopicReport report = topics_[topic].report();
    EXPECT_EQ(report.queued, 0U);
    EXPECT_EQ(report.queued_bytes, 0U);
    EXPECT_EQ(report.held, 0U);
  }
  [[nodiscard]] std::uint64_t lost(std::size_t topic, LossCause cause) const {
    return topics_[topic].report().lost[static_cast<std::size_t>(cause)];
  }

  RecorderOptions options_{.queue_bytes = 1000, .held_from = 1};
  RecordedTopics topics_;
};

TEST_F(RecordedTopicsTest, AreNumberedAsTheyCome) {
  EXPECT_EQ(add("/a"), 0U);
  EXPECT_EQ(add("/b"), 1U);
  EXPECT_EQ(topics_[0].number, 0U);
  EXPECT_EQ(topics_[1].number, 1U);
  EXPECT_EQ(topics_[1].source().name, "/b");
}

TEST_F(RecordedTopicsTest, TheOldestFrameIsNext) {
  const std::size_t a = add("/a"), b = add("/b");
  EXPECT_EQ(topics_.next_frame(false), nullptr);
  EXPECT_FALSE(topics_.frames_wait());
  push_frame(a, 100, 20);
  push_frame(b, 100, 10);
  push_frame(b, 100, 30);
  EXPECT_TRUE(topics_.frames_wait());
  EXPECT_EQ(topics_.next_frame(false), &topics_[b]);
  EXPECT_EQ(topics_.next_frame(true), &topics_[b]) << "no queue is nearly full";
  topics_[b].waiting.pop_front();
  EXPECT_EQ(topics_.next_frame(false), &topics_[a]);
}

TEST_F(RecordedTopicsTest, ANearlyFullQueueGoesFirstIfThatIsAskedFor) {
  const std::size_t a = add("/a"), b = add("/b");
  push_frame(a, 100, 10);
  push_frame(b, 950, 20);
  EXPECT_EQ(topics_.next_frame(false), &topics_[a]);
  EXPECT_EQ(topics_.next_frame(true), &topics_[b]);
}

TEST_F(RecordedTopicsTest, FramesThatWaitedTooLongAreLost) {
  const std::size_t a = add("/a"), b = add("/b");
  push_frame(a, 100, 10);
  push_frame(a, 100, 20);
  push_frame(a, 100, 30);
  push_frame(b, 100, 40);
  topics_.lose_frames_before(30);
  EXPECT_EQ(lost(a, LossCause::DiskSlow), 2U);
  EXPECT_EQ(topics_[a].report().queued_bytes, 100U);
  EXPECT_EQ(lost(b, LossCause::DiskSlow), 0U);
  topics_.lose_frames(LossCause::DiskFailed);
  EXPECT_EQ(lost(a, LossCause::DiskFailed), 1U);
  EXPECT_EQ(lost(b, LossCause::DiskFailed), 1U);
  EXPECT_FALSE(topics_.frames_wait());
  expect_empty(a);
  expect_empty(b);
}

TEST_F(RecordedTopicsTest, AChunkIsLostForAllItsTopics) {
  const std::size_t a = add("/a"), b = add("/b");
  topics_[a].note_queued(3, 30);
  topics_[b].note_queued(2, 50);
  topics_.lose({{.topic = a, .messages = 3, .bytes = 30}, {.topic = b, .messages = 2, .bytes = 50}},
               LossCause::DiskFailed);
  EXPECT_EQ(lost(a, LossCause::DiskFailed), 3U);
  EXPECT_EQ(lost(b, LossCause::DiskFailed), 2U);
  expect_empty(a);
  expect_empty(b);
}

TEST_F(RecordedTopicsTest, LossesHaveARowForEachTopicAndType) {
  add("/a");
  topics_[0].note_recorded(5, 50);
  topics_[0].lose(LossCause::QueueFull, 2);
  topics_[0].lose(LossCause::Malformed, 1);
  add("/b");
  add("/a");  // as one whose type has changed
  topics_[2].note_recorded(7, 70);
  const std::vector<mcap::Metadata> all = topics_.losses();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].name, "cardan.losses");
  const std::string type = topics_[0].source().type;
  EXPECT_EQ(all[0].metadata, (std::map<std::string, std::string>{{"/a", "recorded 5, queue full 2, malformed 1"},
                                                                 {"/b", "recorded 0"},
                                                                 {"/a (" + type + ")", "recorded 7"}}));
}

}  // namespace
}  // namespace cardan::record
