// SPDX-License-Identifier: Apache-2.0
// Played messages reach readers as they were recorded, and those that cannot be played are reported.
#include "cardan/player.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <thread>

#include "cardan/error.hpp"
#include "cardan/observer.hpp"
#include "cardan/subscriber.hpp"
#include "src/record/metadata.hpp"
#include "src/record/player/playing_test.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::record {
namespace {

using namespace std::chrono_literals;
using mcap::test::FileOnDisk;
using test::Bag;
using test::kBegin;
using test::kSecond;
using test::Playing;
using test::soon;
using test::Wheel;

class PlayerTest : public cardan::test::OwnRunDirectory, protected Playing {};

// ---------------------------------------------------------------- contents

TEST_F(PlayerTest, ReadersGetWhatWasRecorded) {
  Bag bag;
  const auto image_channel = bag.add<Image>("/image"), imu_channel = bag.add<Imu>("/imu", false),
             wheel_channel = bag.add<Wheel>("/wheel");
  std::vector<mcap::Bytes> images, imus, wheels;
  for (std::uint32_t i = 0; i < 7; ++i) {
    LocalMessage<Image> image(1 << 20);
    auto pixels = image->resize(100 + 50 * i, 200, "bgr8");
    for (std::size_t p = 0; p < pixels.size(); ++p) pixels[p] = static_cast<std::uint8_t>(p * 7 + i);
    image->header = {.stamp = static_cast<std::int64_t>(kBegin + i), .sequence = 0, .frame_id = FrameId("front")};
    images.push_back(to_cdr(*image));
    bag.write(image_channel, i * 1'000'000, images.back());
    Imu imu;
    imu.header.stamp = i;
    imu.angular_velocity.z = 0.25 * i;
    imu.orientation.w = 0.5;
    imus.push_back(to_cdr(imu));
    bag.write(imu_channel, i * 1'000'000 + 1, imus.back());
    LocalMessage<Wheel> wheel(1 << 16);
    wheel->number = static_cast<std::uint8_t>(i);
    wheel->speed = i / 3.0;
    wheel->name = "left";
    for (std::uint32_t k = 0; k < 40 * i; ++k) wheel->ranges.push_back(static_cast<float>(k));
    wheels.push_back(to_cdr(*wheel));
    bag.write(wheel_channel, i * 1'000'000 + 2, wheels.back());
  }
  const FileOnDisk file(bag.bytes());
  Player player({file.path()}, noting({.depth = 8}));
  Subscriber<Image> image_reader(Topic<Image>{"/image", {}});
  Subscriber<Imu> imu_reader(Topic<Imu>{"/imu", {}});
  Subscriber<Wheel> wheel_reader(Topic<Wheel>{"/wheel", {}});
  player.run();
  for (std::uint32_t i = 0; i < 7; ++i) {
    const auto image = image_reader.take();
    ASSERT_TRUE(image) << i;
    EXPECT_EQ(to_cdr(*image), images[i]);
    EXPECT_EQ(image.source_time(), static_cast<std::int64_t>(kBegin + i * 1'000'000 - 1000));
    const auto imu = imu_reader.take();
    ASSERT_TRUE(imu) << i;
    EXPECT_EQ(to_cdr(*imu), imus[i]);
    EXPECT_EQ(imu->angular_velocity.z, 0.25 * i);
    const auto wheel = wheel_reader.take();
    ASSERT_TRUE(wheel) << i;
    EXPECT_EQ(to_cdr(*wheel), wheels[i]);
    EXPECT_EQ(wheel->ranges.size(), 40 * i);
  }
  EXPECT_FALSE(image_reader.take());
  const PlayerReport report = player.report();
  EXPECT_EQ(report.published, 21U);
  EXPECT_EQ(report.failed, 0U);
  EXPECT_TRUE(report.left_out.empty());
  EXPECT_EQ(report.position_ns, report.end_ns);
}

TEST_F(PlayerTest, ReadersGetTheSourceStampsThatWereRecorded) {
  Bag bag;
  const auto channel = bag.add<CanFrame>("/frames");
  for (std::uint32_t i = 0; i < 6; ++i)
    bag.write(channel, i * 1'000'000, CanFrame{}, i % 3 == 2 ? 0 : 1'000 + static_cast<std::int64_t>(i));
  const FileOnDisk file(bag.bytes());
  Player player({file.path()}, noting({.depth = 8}));
  Subscriber<CanFrame> reader(Topic<CanFrame>{"/frames", {}});
  player.run();
  for (std::uint32_t i = 0; i < 6; ++i) {
    const auto frame = reader.take();
    ASSERT_TRUE(frame) << i;
    EXPECT_EQ(frame.source_time(), i % 3 == 2 ? static_cast<std::int64_t>(kBegin + i * 1'000'000 - 1000)
                                              : 1'000 + static_cast<std::int64_t>(i))
        << "of " << i << ": without a stamp the publish time that was recorded";
  }
}

TEST_F(PlayerTest, LargeMessagesAreReadOneByOne) {
  Bag bag({.chunk_bytes = 3 << 20});
  const auto channel = bag.add<Image>("/image");
  std::vector<mcap::Bytes> images;
  for (std::uint32_t i = 0; i < 12; ++i) {
    LocalMessage<Image> image(1 << 20);
    auto pixels = image->resize(500, 600, "bgr8");
    for (std::size_t p = 0; p < pixels.size(); ++p) pixels[p] = static_cast<std::uint8_t>(p / 3 + i);
    images.push_back(to_cdr(*image));
    bag.write(channel, i * 1'000'000, images.back());
  }
  const FileOnDisk file(bag.bytes());
  // Less is read ahead than there is: the reading waits for the playing.
  Player player({file.path()}, noting({.depth = 12, .read_ahead_bytes = 2 << 20}));
  Subscriber<Image> reader(Topic<Image>{"/image", {}});
  player.run();
  for (const mcap::Bytes& expected : images) {
    const auto image = reader.take();
    ASSERT_TRUE(image);
    EXPECT_EQ(to_cdr(*image), expected);
  }
}

TEST_F(PlayerTest, EncodedObjectsPassAsTheyAre) {
  Bag bag;
  const std::string schema =
      "\n\x03"
      "abc";
  const auto channel = bag.add("/object", "my.Thing", "protobuf", schema, "protobuf", {});
  const mcap::Bytes data = mcap::test::bytes_of("whatever Protobuf makes of it");
  bag.write(channel, 0, data);
  const FileOnDisk file(bag.bytes());
  Player player({file.path()}, noting());
  Observer observer("/object");
  ASSERT_EQ(observer.streams().size(), 1U);
  EXPECT_EQ(observer.streams()[0]->type(), "my.Thing");
  EXPECT_EQ(observer.streams()[0]->schema(), schema);
  player.run();
  ObservedSample sample;
  ASSERT_TRUE(observer.copy_latest(sample));
  const auto payload = sample.payload();
  ASSERT_EQ(payload.size(), data.size());
  EXPECT_TRUE(std::equal(payload.begin(), payload.end(), data.begin()));
}

// ---------------------------------------------------------------- choices

TEST_F(PlayerTest, TopicsAreChosenAndRenamed) {
  const FileOnDisk file(counting(4));
  {
    Player player({file.path()}, noting({.topics = {"/c*"}}));
    player.run();
    EXPECT_EQ(played_.size(), 4U);
  }
  played_.clear();
  {
    Player player({file.path()}, noting({.remap = {{"/half", "/recorded/half"}}}));
    Subscriber<CanFrame> reader(Topic<CanFrame>{"/recorded/half", {}});
    player.run();
    EXPECT_EQ(recorded_tenths("/recorded/half"), (std::vector<std::int64_t>{0, 2}));
    EXPECT_EQ(recorded_tenths("/half"), std::vector<std::int64_t>());
    EXPECT_EQ(reader.take()->id, 0U);
  }
  EXPECT_THROW(Player({file.path()}, {.topics = {"/nobody"}}), Error);
  EXPECT_THROW(Player({file.path()}, {.remap = {{"/nobody", "/x"}}}), Error);
  EXPECT_THROW(Player({file.path()}, {.remap = {{"/h*", "/x"}}}), Error) << "a name, no pattern";
  EXPECT_THROW(Player({"/nowhere.mcap"}, {}), Error);
}

TEST_F(PlayerTest, TheFilesStatisticsDoNotSayWhenItsMessagesAre) {
  // Somebody's writer that puts nonsense there: the part that is asked for is found all the same.
  mcap::Bytes bytes = counting(40);
  const auto begin = static_cast<std::uint64_t>(kBegin), end = static_cast<std::uint64_t>(kBegin + 39 * kSecond / 10);
  std::size_t changed = 0;
  for (std::size_t i = 0; i + 16 <= bytes.size(); ++i) {  // in its Statistics, and nowhere else, both are together
    std::uint64_t first = 0, last = 0;
    std::memcpy(&first, bytes.data() + i, 8);
    std::memcpy(&last, bytes.data() + i + 8, 8);
    if (first != begin || last != end) continue;
    const std::uint64_t lies[2] = {0, ~std::uint64_t{0}};
    std::memcpy(bytes.data() + i, lies, sizeof lies);
    ++changed;
  }
  ASSERT_EQ(changed, 1U);
  // Its summary's checksum is not right any more: as of a writer that wrote none.
  std::memset(bytes.data() + bytes.size() - mcap::kMagic.size() - 4, 0, 4);
  const FileOnDisk file(bytes);
  Player player({file.path()}, noting({.start = 1s, .until = 2s}));
  player.run();
  EXPECT_EQ(recorded_tenths("/count"), numbers(10, 20));
}

TEST_F(PlayerTest, SeveralFilesAreOne) {
  Bag first, second;
  const auto a = first.add<CanFrame>("/count"), b = second.add<CanFrame>("/count");
  for (std::uint32_t i = 0; i < 20; ++i) {
    CanFrame frame;
    frame.id = i;
    (i % 3 == 0 ? first : second).write(i % 3 == 0 ? a : b, i * kSecond / 10, frame);
  }
  const FileOnDisk one(first.bytes()), two(second.bytes());
  Player player({two.path(), one.path()}, noting({.depth = 20}));
  Subscriber<CanFrame> reader(Topic<CanFrame>{"/count", {}});
  player.run();
  EXPECT_EQ(reader.publishers(), 1U);
  for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(reader.take()->id, i);
}

TEST_F(PlayerTest, TopicsThatCannotBePlayedAreLeftOutWithAReason) {
  Bag bag;
  bag.add("/json", "a.B", "", "{}", "json", {});
  bag.add("/unknown", "x_msgs/msg/Unknown", "ros2msg", "x_msgs/Nowhere value\n", "cdr", {});
  bag.add("/idl", "x_msgs/msg/Unknown", "ros2idl", "struct Unknown {};", "cdr", {});
  bag.add("/nothing", "x_msgs/msg/Unknown", "ros2msg", "", "cdr", {});
  bag.add<Imu>("imu");
  bag.add<Imu>("/cardan/imu");
  const auto causes = bag.add<Imu>("/cardan/causes");
  const auto good = bag.add<Imu>("/imu", false);
  bag.write(good, 0, Imu{});
  bag.write(causes, 0, Imu{});
  const FileOnDisk file(bag.bytes());
  Player player({file.path()}, noting());
  player.run();
  const PlayerReport report = player.report();
  std::map<std::string, LeftOut> why;
  for (const LeftOut& one : report.left_out) why[one.topic] = one;
  ASSERT_EQ(why.size(), 6U) << "causes are left out without a word";
  EXPECT_NE(why["/json"].why.find("'json'"), std::string::npos) << why["/json"].why;
  EXPECT_NE(why["/unknown"].why.find("x_msgs/Nowhere"), std::string::npos) << why["/unknown"].why;
  EXPECT_NE(why["/idl"].why.find("'ros2idl'"), std::string::npos) << why["/idl"].why;
  EXPECT_NE(why["/nothing"].why.find("does not define"), std::string::npos) << why["/nothing"].why;
  EXPECT_NE(why["imu"].why.find("/imu is recorded too"), std::string::npos) << why["imu"].why;
  EXPECT_TRUE(why["/cardan/imu"].by_design);
  EXPECT_FALSE(why["imu"].by_design);
  EXPECT_TRUE(why["/unknown"].by_design) << "it has no messages: nothing is missing";
  EXPECT_EQ(report.published, 1U);
}

TEST_F(PlayerTest, ATopicWithoutASlashIsPlayedUnderANameWithOne) {
  Bag bag;
  const auto channel = bag.add<Imu>("chatter");
  bag.write(channel, 0, Imu{});
  const FileOnDisk file(bag.bytes());
  Player player({file.path()}, noting({.topics = {"/chat*"}}));
  Subscriber<Imu> reader(Topic<Imu>{"/chatter", {}});
  player.run();
  EXPECT_TRUE(reader.take());
  EXPECT_TRUE(player.report().left_out.empty());
  EXPECT_EQ(player.report().notes, std::vector<std::string>{"chatter is played as /chatter"});
}

TEST_F(PlayerTest, ATopicIsAsDeepAsItWasRecorded) {
  Bag bag;
  using Traits = message_traits<CanFrame>;
  const auto channel = bag.add("/frames", std::string(Traits::type_name()), "ros2msg", Traits::schema(), "cdr",
                               {{kQosKey, offered_qos(50)}});
  for (std::uint32_t i = 0; i < 100; ++i) bag.write(channel, i, CanFrame{});
  const FileOnDisk file(bag.bytes());
  Player player({file.path()}, noting());
  player.run();
  Subscriber<CanFrame> late(Topic<CanFrame>{"/frames", {}}, {.depth = 0});
  std::size_t given = 0;
  while (late.take()) ++given;
  EXPECT_GE(given, 10U);
  const Observer observer("/frames");
  ASSERT_EQ(observer.streams().size(), 1U);
  EXPECT_EQ(observer.streams()[0]->depth(), 50U);
}

TEST_F(PlayerTest, TypesThatNobodyWasCompiledWithAreLaidOutByTheirDefinition) {
  Bag bag;
  const std::string text =
      "string[] names\nTwo[] twos\n" + std::string(80, '=') + "\nMSG: x_msgs/Two\nfloat64 a\nstring b\n";
  const auto known = bag.add("/names", "x_msgs/msg/Names", "ros2msg", text, "cdr", {});
  // The hash of a layout that no program has any more.
  const auto old = bag.add("/old", "x_msgs/msg/Names", "ros2msg", text, "cdr", {{kTypeHashKey, "00000000000000ff"}});
  const AnyType type = AnyType::of_definition("x_msgs/msg/Names", text);
  std::vector<mcap::Bytes> written;
  for (std::size_t i = 0; i < 5; ++i) {
    std::string cdr{0, 1, 0, 0, static_cast<char>(i), 0, 0, 0};
    for (std::size_t n = 0; n < i; ++n) cdr += std::string{4, 0, 0, 0, 'a', 'b', static_cast<char>('c' + n), 0};
    cdr += std::string{1, 0, 0, 0};
    cdr.resize((cdr.size() - 4 + 7) / 8 * 8 + 4);
    cdr += std::string{0, 0, 0, 0, 0, 0, 4, 64, 2, 0, 0, 0, 'x', 0};
    const auto bytes = std::as_bytes(std::span(cdr));
    written.emplace_back(bytes.begin(), bytes.end());
    bag.write(known, i * 1'000'000, written.back());
    bag.write(old, i * 1'000'000, written.back());
  }
  const FileOnDisk file(bag.bytes());
  Player player({file.path()}, noting({.depth = 8}));
  AnySubscriber one("/names", type.message_type()), other("/old", type.message_type());
  player.run();
  CdrFramer framer(type);
  for (AnySubscriber* reader : {&one, &other})
    for (const mcap::Bytes& expected : written) {
      const AnySample sample = reader->take();
      ASSERT_TRUE(sample);
      ASSERT_TRUE(framer.frame(sample));
      const CdrFrame& parts = framer.parts();
      mcap::Bytes all(parts.prefix);
      all.insert(all.end(), parts.payload.begin(), parts.payload.end());
      all.insert(all.end(), parts.suffix.begin(), parts.suffix.end());
      EXPECT_EQ(all, expected);
    }
  EXPECT_TRUE(player.report().left_out.empty());
  EXPECT_EQ(player.report().failed, 0U);
}

TEST_F(PlayerTest, AMessageThatMakesNoSenseIsCountedAndTheRestIsPlayed) {
  Bag bag;
  const auto channel = bag.add<CanFrame>("/can");
  for (std::uint32_t i = 0; i < 5; ++i) {
    CanFrame frame;
    frame.id = i;
    mcap::Bytes data = to_cdr(frame);
    if (i == 2) data.resize(data.size() / 2);
    bag.write(channel, i, data);
  }
  const FileOnDisk file(bag.bytes());
  Player player({file.path()}, noting());
  Subscriber<CanFrame> reader(Topic<CanFrame>{"/can", {}});
  player.run();
  for (const std::uint32_t id : {0U, 1U, 3U, 4U}) EXPECT_EQ(reader.take()->id, id);
  const PlayerReport report = player.report();
  EXPECT_EQ(report.failed, 1U);
  EXPECT_NE(report.topics[0].failure.find("end too early"), std::string::npos) << report.topics[0].failure;
}

TEST_F(PlayerTest, OfADamagedFileTheRestIsPlayed) {
  mcap::Bytes bytes = counting(40, {.chunk_bytes = 400});
  const FileOnDisk file(bytes);
  const mcap::Reader reader(file.path());
  const auto& chunks = reader.summary().chunks();
  const std::uint64_t middle = chunks[chunks.size() / 2].chunk_start_offset;
  bytes[static_cast<std::size_t>(middle) + 100] ^= std::byte{0xff};
  file.put(bytes);
  Player player({file.path()}, noting({.exclude = {"/half"}}));
  player.run();
  EXPECT_GT(played_.size(), 25U);
  EXPECT_LT(played_.size(), 40U);
  EXPECT_EQ(player.report().problems.size(), 1U);
}

TEST_F(PlayerTest, AFileWithoutAnEndIsPlayedAsFarAsItGoes) {
  mcap::Bytes bytes = counting(40, {.chunk_bytes = 400});
  bytes.resize(bytes.size() * 2 / 5);
  const FileOnDisk file(bytes);
  Player player({file.path()}, noting());
  player.run();
  EXPECT_GT(played_.size(), 5U);
  const PlayerReport report = player.report();
  EXPECT_EQ(report.unfinished.size(), 1U);
  EXPECT_EQ(report.failed, 0U);
}

TEST_F(PlayerTest, MessagesOfAChannelThatIsLostAreNamed) {
  Bag bag;
  const auto imu = bag.add<Imu>("/imu");
  bag.write(imu, 1000, Imu{});
  bag.write(imu + 1, 2000, Imu{});
  mcap::Bytes bytes = bag.bytes();
  const FileOnDisk file(bytes);
  for (const bool finished : {true, false}) {
    if (!finished) bytes.resize(bytes.size() - 20);
    file.put(bytes);
    Player player({file.path()}, noting());
    player.run();
    EXPECT_EQ(player.report().published, 1U);
    EXPECT_EQ(player.report().problems.size(), 1U) << finished;
  }
}

// ---------------------------------------------------------------- readers

TEST_F(PlayerTest, AsFastAsASlowReaderWithoutLoss) {
  const FileOnDisk file(counting(200));
  Player player({file.path()}, {.as_fast_as_readers = true, .depth = 2, .wait_for_readers = 2});
  std::vector<std::uint32_t> slow, fast;
  std::uint64_t missed = 0;
  std::thread slow_reader([&] {
    Subscriber<CanFrame> reader(Topic<CanFrame>{"/count", {}});
    while (slow.size() < 200) {
      const auto frame = reader.wait(10s);
      if (!frame) break;
      slow.push_back(frame->id);
      if (slow.size() % 50 == 0) std::this_thread::sleep_for(40ms);
    }
    missed = reader.missed();
  });
  std::thread fast_reader([&] {
    Subscriber<CanFrame> reader(Topic<CanFrame>{"/half", {}});
    while (fast.size() < 100) {
      const auto frame = reader.wait(10s);
      if (!frame) break;
      fast.push_back(frame->id);
    }
  });
  player.run();
  slow_reader.join();
  fast_reader.join();
  ASSERT_EQ(slow.size(), 200U);
  for (std::uint32_t i = 0; i < 200; ++i) EXPECT_EQ(slow[i], i);
  EXPECT_EQ(fast.size(), 100U);
  EXPECT_EQ(missed, 0U);
  EXPECT_EQ(player.report().timed, 0U);
}

TEST_F(PlayerTest, AReaderThatStandsStillIsWaitedForAndAStopIsObeyed) {
  const FileOnDisk file(counting(50));
  Player player({file.path()}, {.as_fast_as_readers = true, .depth = 3});
  Subscriber<CanFrame> reader(Topic<CanFrame>{"/count", {}});
  std::thread playing([&] { player.run(); });
  EXPECT_TRUE(soon([&] { return player.report().waits_for == "/count"; }));
  EXPECT_EQ(reader.take()->id, 0U);
  EXPECT_EQ(reader.take()->id, 1U);
  player.stop();
  playing.join();
  EXPECT_LE(player.report().published, 10U);
  EXPECT_EQ(reader.missed(), 0U);
}

TEST_F(PlayerTest, BeginsWhenThereAreReaders) {
  const FileOnDisk file(counting(5));
  Player player({file.path()}, noting({.wait_for_readers = 1}));
  std::thread playing([&] { player.run(); });
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(player.report().published, 0U);
  Subscriber<CanFrame> reader(Topic<CanFrame>{"/count", {}});
  playing.join();
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(reader.take()->id, i);
}

TEST_F(PlayerTest, StopsWhileItWaitsForReaders) {
  const FileOnDisk file(counting(5));
  Player player({file.path()}, noting({.wait_for_readers = 1}));
  std::thread playing([&] { player.run(); });
  player.stop();
  playing.join();
  EXPECT_EQ(player.report().published, 0U);
}

}  // namespace
}  // namespace cardan::record
