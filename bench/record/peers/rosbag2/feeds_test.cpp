// SPDX-License-Identifier: Apache-2.0
#include "bench/record/peers/rosbag2/feeds.hpp"

#include <gtest/gtest.h>

#include "bench/record/measure.hpp"
#include "bench/record/payload.hpp"
#include "bench/temporary_folder.hpp"

namespace cardan::bench::rosbag2 {
namespace {

TEST(Feeds, WithoutTransportEachSensorSendsItsMessages) {
  const TemporaryFolder folder("cardan-bench-test");
  const std::string path = folder.path() + "/a.mcap";
  const recording::Sensors sensors{{.topic = "/sensor/a", .count = 3, .bytes = 100'000, .rate_hz = 50},
                                   {.topic = "/sensor/b", .count = 1, .bytes = 150, .rate_hz = 100}};
  Writer writer(path, {"/sensor/a", "/sensor/b"}, MessageCache::kUsualBytes);
  bool all_made = false;
  const Fed fed =
      feed_without_transport(sensors, recording::Schedule::IntegerMs, 0.2, writer, [&] { all_made = true; });
  writer.close();
  EXPECT_TRUE(all_made);
  EXPECT_EQ(fed.made, 3U * 10 + 20) << "integer milliseconds send all, whatever the time that takes";
  EXPECT_GT(fed.handling_ns, 0);
  const recording::FileContent content = recording::content_of({path}, sensors);
  EXPECT_EQ(content.messages, writer.written());
  EXPECT_EQ(content.messages + fed.dropped + writer.dropped(), fed.made) << "each is in the file, or counted";
  EXPECT_EQ(content.damaged, 0U);
}

TEST(Feeds, ACacheThatIsTooSmallLosesMessagesAndCountsThem) {
  const TemporaryFolder folder("cardan-bench-test");
  const std::string path = folder.path() + "/a.mcap";
  Writer writer(path, {"/sensor/a"}, 1);  // full with the first message
  std::vector<std::uint8_t> payload(200'000);
  recording::write_payload(payload, {.sensor = 1, .number = 1});
  for (int n = 0; n < 300; ++n) writer.write(copy_message(0, payload));
  writer.close();
  EXPECT_EQ(writer.written() + writer.dropped(), 300U);
  EXPECT_GT(writer.dropped(), 0U);
}

TEST(Feeds, AMessageIsCopiedAsCdr) {
  std::vector<std::uint8_t> payload{1, 2, 3, 4, 5, 6, 7, 8};
  const MessagePointer message = copy_message(2, payload);
  EXPECT_EQ(message->topic, 2U);
  ASSERT_EQ(message->bytes, recording::kCdrPrefixBytes + 8);
  const auto at = [&](std::size_t i) { return static_cast<int>(message->data[i]); };
  EXPECT_EQ(at(1), 1) << "little endian";
  EXPECT_EQ(at(4), 8) << "the number of bytes";
  EXPECT_EQ(at(8), 1);
  EXPECT_EQ(at(15), 8);
}

}  // namespace
}  // namespace cardan::bench::rosbag2
