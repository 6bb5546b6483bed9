// SPDX-License-Identifier: Apache-2.0
#include "bench/record/peers/rosbag2/bag.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "bench/temporary_folder.hpp"
#include "cardan/error.hpp"
#include "cardan/mcap/reader.hpp"

namespace cardan::bench::rosbag2 {
namespace {

Message filled(std::uint16_t topic, std::size_t bytes, std::int64_t time) {
  Message out{.topic = topic, .time_ns = time, .bytes = bytes, .data = std::make_unique<std::byte[]>(bytes)};
  std::memset(out.data.get(), static_cast<int>(time), bytes);
  return out;
}

TEST(Bag, IsReadAsItWasWritten) {
  const TemporaryFolder folder("cardan-bench-test");
  const std::string path = folder.path() + "/a.mcap";
  Bag bag(path, {"/camera", "/imu", "/never"});
  for (std::int64_t n = 0; n < 40; ++n) {
    bag.write(filled(0, 1'000'000, 10 * n));
    for (std::int64_t i = 1; i < 10; ++i) bag.write(filled(1, 400, 10 * n + i));
  }
  bag.close();
  EXPECT_EQ(bag.messages(), 400U);
  EXPECT_GT(bag.fwrite_ns(), 0);

  const mcap::Reader reader(path);
  ASSERT_TRUE(reader.complete());
  EXPECT_FALSE(reader.scanned()) << "it has a summary";
  const auto& statistics = reader.summary().statistics();
  EXPECT_EQ(statistics.message_count, 400U);
  EXPECT_EQ(statistics.channel_message_counts.at(1), 40U);
  EXPECT_EQ(statistics.channel_message_counts.at(2), 360U);
  EXPECT_EQ(reader.file().size(), bag.bytes());
  EXPECT_EQ(reader.summary().chunks().size(), 80U) << "a camera's message has its own chunk";
  std::int64_t time = 0;
  mcap::Messages messages = reader.messages();
  while (const auto found = messages.next()) {
    const bool camera = time % 10 == 0;
    ASSERT_EQ(found->channel->topic, camera ? "/camera" : "/imu");
    ASSERT_EQ(found->message.log_time, static_cast<std::uint64_t>(time));
    ASSERT_EQ(found->message.data.size(), camera ? 1'000'000U : 400U);
    ASSERT_EQ(found->message.data.back(), static_cast<std::byte>(time));
    ++time;
  }
  EXPECT_EQ(time, 400);
  EXPECT_TRUE(messages.problems().empty());
}

TEST(Bag, ChunksOfSmallMessagesAre768KiB) {
  const TemporaryFolder folder("cardan-bench-test");
  const std::string path = folder.path() + "/a.mcap";
  Bag bag(path, {"/small"});
  for (std::int64_t n = 0; n < 2000; ++n) bag.write(filled(0, 1600, n));
  bag.close();
  const mcap::Reader reader(path);
  ASSERT_GE(reader.summary().chunks().size(), 4U);
  for (std::size_t i = 0; i + 1 < reader.summary().chunks().size(); ++i) {
    EXPECT_LE(reader.summary().chunks()[i].uncompressed_size, Bag::kChunkBytes);
    EXPECT_GT(reader.summary().chunks()[i].uncompressed_size, Bag::kChunkBytes - 3000);
  }
}

TEST(Bag, AFullDiskIsNoticed) {
  Bag bag("/dev/full", {"/a"});
  bag.write(filled(0, 1'000'000, 1));
  EXPECT_THROW(bag.close(), Error);
}

TEST(Bag, AFileThatCannotBeMadeIsReported) { EXPECT_THROW(Bag("/nowhere/a.mcap", {"/a"}), Error); }

}  // namespace
}  // namespace cardan::bench::rosbag2
