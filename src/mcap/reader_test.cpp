// SPDX-License-Identifier: Apache-2.0
#include "cardan/mcap/reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "cardan/error.hpp"
#include "src/mcap/sample_file_test.hpp"

namespace cardan::mcap {
namespace {

using test::FileOnDisk;
using test::read_all;
using test::Sample;

std::vector<Sample> by_time(std::vector<Sample> samples) {
  std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) {
    return std::tie(a.log_time, a.sequence) < std::tie(b.log_time, b.sequence);
  });
  return samples;
}

TEST(McapReader, GivesEveryMessageInTheOrderOfTheTimesHoweverItIsWritten) {
  const auto samples = test::some_samples(60, 120);
  for (const WriterOptions& way : test::ways_to_write()) {
    const FileOnDisk file(test::write_file(samples, way));
    const Reader reader(file.path());
    EXPECT_TRUE(reader.complete());
    EXPECT_EQ(read_all(reader), by_time(samples));
    EXPECT_EQ(reader.summary().channels().at(1).topic, "/one");
    EXPECT_EQ(reader.summary().schemas().at(1).name, "pkg/Type");
    EXPECT_EQ(reader.summary().statistics().message_count, samples.size());
    EXPECT_EQ(reader.summary().statistics().attachment_count, 1U);
    EXPECT_EQ(reader.header().library, "cardan");
  }
}

TEST(McapReader, GivesThemBackwards) {
  const auto samples = test::some_samples(60, 120);
  auto expected = by_time(samples);
  std::reverse(expected.begin(), expected.end());
  for (const WriterOptions& way : test::ways_to_write()) {
    const FileOnDisk file(test::write_file(samples, way));
    EXPECT_EQ(read_all(Reader(file.path()), {.order = Order::ReverseLogTime}), expected);
  }
}

TEST(McapReader, GivesOnlyWhatIsWanted) {
  const auto samples = test::some_samples(60, 120);
  for (const WriterOptions& way : test::ways_to_write()) {
    const FileOnDisk file(test::write_file(samples, way));
    const auto found =
        read_all(Reader(file.path()),
                 {.start = 1100, .end = 1300, .wanted = [](const Channel& c) { return c.topic == "/two"; }});
    std::vector<Sample> expected;
    for (const Sample& s : by_time(samples))
      if (s.channel == 2 && s.log_time >= 1100 && s.log_time < 1300) expected.push_back(s);
    EXPECT_GT(expected.size(), 5U);
    EXPECT_EQ(found, expected);
  }
}

TEST(McapReader, GivesNothingMoreOnceItIsCancelled) {
  const auto samples = test::some_samples(60, 120);
  for (const WriterOptions& way : test::ways_to_write()) {
    const FileOnDisk file(test::write_file(samples, way));
    const Reader reader(file.path());
    std::atomic<bool> cancelled{false};
    Messages messages = reader.messages({.cancelled = &cancelled});
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(messages.next());
    cancelled = true;
    EXPECT_FALSE(messages.next());
    EXPECT_TRUE(messages.problems().empty());
  }
}

TEST(McapReader, ReadsLargeChunksMessageByMessage) {
  const auto samples = test::some_samples(40, 200'000);
  WriterOptions options{.chunk_bytes = 3 << 20};
  const FileOnDisk file(test::write_file(samples, options));
  const Reader reader(file.path());
  ASSERT_GT(reader.summary().chunks().front().chunk_length, std::uint64_t{1} << 20);
  EXPECT_EQ(read_all(reader), by_time(samples));
}

TEST(McapReader, GivesDataThatLastAsLongAsTheirOwnerIsKept) {
  const auto samples = test::some_samples(40, 200'000);
  auto ways = test::ways_to_write();
  ways.push_back({.chunk_bytes = 3 << 20});
  for (const WriterOptions& way : ways) {
    const FileOnDisk file(test::write_file(samples, way));
    std::vector<MessageView> kept;
    {
      const Reader reader(file.path());
      Messages messages = reader.messages();
      while (const auto one = messages.next()) {
        EXPECT_GE(one->owner_bytes, one->message.data.size());
        kept.push_back(*one);
      }
    }
    std::vector<Sample> found;
    for (const MessageView& view : kept) found.push_back(test::sample_of(view.message));
    EXPECT_EQ(found, by_time(samples));
  }
}

TEST(McapReader, KeepsEqualTimesInTheOrderOfTheFile) {
  auto samples = test::some_samples(50, 30);
  for (Sample& s : samples) s.log_time = 1000 + s.sequence / 20;
  for (const WriterOptions& way : test::ways_to_write()) {
    const FileOnDisk file(test::write_file(samples, way));
    EXPECT_EQ(read_all(Reader(file.path())), samples);
  }
}

TEST(McapReader, GivesMessagesOfTheLastTimeThatThereIs) {
  auto samples = test::some_samples(20, 30);
  for (Sample& s : samples) s.log_time = s.sequence < 10 ? s.sequence : std::numeric_limits<std::uint64_t>::max();
  for (const WriterOptions& way : test::ways_to_write()) {
    const FileOnDisk file(test::write_file(samples, way));
    EXPECT_EQ(read_all(Reader(file.path())), samples);
  }
}

TEST(McapReader, GivesAttachmentsAndMetadata) {
  const auto samples = test::some_samples(5, 30);
  for (const WriterOptions& way : test::ways_to_write()) {
    const FileOnDisk file(test::write_file(samples, way));
    const Reader reader(file.path());
    ASSERT_EQ(reader.summary().attachments().size(), 1U);
    ASSERT_EQ(reader.summary().metadata().size(), 1U);
    Bytes buffer;
    const auto attachment = reader.attachment(reader.summary().attachments()[0], buffer);
    ASSERT_TRUE(attachment);
    EXPECT_EQ(Bytes(attachment->data.begin(), attachment->data.end()), test::bytes_of("calibration"));
    const auto metadata = reader.metadata(reader.summary().metadata()[0]);
    ASSERT_TRUE(metadata);
    EXPECT_EQ(metadata->metadata.at("cardan"), "0");
  }
}

TEST(McapReader, ReportsFilesThatAreNotMcap) {
  const FileOnDisk file(test::bytes_of("#ROSBAG V2.0\n and more"));
  EXPECT_THROW(Reader{file.path()}, Error);
  EXPECT_THROW(Reader{"/nowhere/at.mcap"}, Error);
  EXPECT_THROW(Reader{"/"}, Error);
}

}  // namespace
}  // namespace cardan::mcap
