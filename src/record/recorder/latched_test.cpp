// SPDX-License-Identifier: Apache-2.0
// Topics that are published once or rarely are in each file of a recording, not only in the first one.
#include <gtest/gtest.h>

#include <map>

#include "cardan/mcap/before_start.hpp"
#include "cardan/mcap/rewrite.hpp"
#include "src/record/recorder/last_samples.hpp"
#include "src/record/recorder/recording_test.hpp"

namespace cardan::record {
namespace {

using namespace test;

inline constexpr Topic<CanFrame> kStatic{"/static", {.depth = 1}};

void publish_static(Publisher<CanFrame>& out, std::uint32_t id) {
  auto loan = out.loan();
  ASSERT_TRUE(loan);
  loan->id = id;
  out.publish(std::move(loan));
}

/// Log times of a topic's messages in a file.
std::vector<std::uint64_t> times_in(const std::string& path, const std::string& topic) {
  const mcap::Reader reader(path);
  std::vector<std::uint64_t> times;
  mcap::Messages messages = reader.messages({.wanted = [&](const mcap::Channel& c) { return c.topic == topic; }});
  while (const auto m = messages.next()) times.push_back(m->message.log_time);
  return times;
}

class LatchedRecording : public RecorderTest {
 protected:
  [[nodiscard]] RecorderOptions splitting() const {
    RecorderOptions o = options();
    o.split_bytes = std::uint64_t{1} << 40;  // on request only
    return o;
  }
  /// Ends the current file with what is recorded, and puts one sample into the next.
  void split(Recorder& recorder, Publisher<CanFrame>& ticks, std::uint32_t number) {
    const std::string before = recorder.report().file;
    const std::uint64_t recorded = recorder.report().recorded;
    recorder.split();
    ASSERT_TRUE(reaches([&] { return recorder.report().file != before; }, 60s));
    publish_static(ticks, number);
    ASSERT_TRUE(reaches([&] { return recorder.report().recorded == recorded + 1; }, 60s));
  }
  [[nodiscard]] std::string file(int number) const { return folder_ + "/a_000" + std::to_string(number) + ".mcap"; }
};

TEST_F(LatchedRecording, EachFileBeginsWithTheLastSamplesOfItsTopics) {
  Publisher imu{kImu};
  Publisher camera{kCamera};
  Publisher ticks{Topic<CanFrame>{"/ticks", {}}};
  Recorder recorder(splitting());
  for (std::uint32_t i = 1; i <= 3; ++i) publish_imu(imu, i);
  publish_image(camera, 1);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 4; }, 60s));
  split(recorder, ticks, 1);
  split(recorder, ticks, 2);
  recorder.stop();
  ASSERT_EQ(recorder.report().files.size(), 3U);
  EXPECT_EQ(recorder.report().recorded, 6U) << "what is repeated is counted once";
  for (int i = 1; i <= 3; ++i) {
    expect_good(file(i));
    EXPECT_EQ(numbers_in(file(i), kImu.name), up_to(3)) << i;
    EXPECT_EQ(numbers_in(file(i), kCamera.name), up_to(1)) << i;
    EXPECT_EQ(times_in(file(i), kImu.name), times_in(file(1), kImu.name)) << i;
  }
  EXPECT_EQ(times_in(file(3), "/ticks").size(), 2U);
  EXPECT_FALSE(mcap::Reader(file(1)).before_start());
  const mcap::Reader third(file(3));
  ASSERT_TRUE(third.before_start());
  EXPECT_EQ(third.before_start()->messages,
            (std::map<std::string, std::uint64_t>{{"/camera", 1}, {"/imu", 3}, {"/ticks", 1}}));
  EXPECT_GT(times_in(file(3), "/ticks")[1], third.before_start()->start - 1);
  EXPECT_LT(third.before_start()->last, third.before_start()->start);
}

TEST_F(LatchedRecording, PartsMergeIntoOneRecordingWithoutRepetition) {
  Publisher imu{kImu};
  Publisher ticks{Topic<CanFrame>{"/ticks", {}}};
  Recorder recorder(splitting());
  for (std::uint32_t i = 1; i <= 5; ++i) publish_imu(imu, i);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 5; }, 60s));
  for (std::uint32_t i = 1; i <= 3; ++i) split(recorder, ticks, i);
  recorder.stop();
  const std::string all = folder_ + "/all.mcap", later = folder_ + "/later.mcap";
  EXPECT_EQ(mcap::rewrite({file(1), file(2), file(3), file(4)}, all, {}).messages, 8U);
  EXPECT_FALSE(mcap::Reader(all).before_start());
  EXPECT_EQ(numbers_in(all, kImu.name), up_to(5));
  EXPECT_EQ(mcap::rewrite({file(3), file(4)}, later, {}).messages, 8U) << "five and one from before";
  ASSERT_TRUE(mcap::Reader(later).before_start());
  EXPECT_EQ(mcap::Reader(later).before_start()->messages,
            (std::map<std::string, std::uint64_t>{{"/imu", 5}, {"/ticks", 1}}));
  expect_good(later);
}

TEST_F(LatchedRecording, EachPublisherOfATopicCounts) {
  Publisher one{kStatic}, two{kStatic};
  Publisher ticks{Topic<CanFrame>{"/ticks", {}}};
  Recorder recorder(splitting());
  for (std::uint32_t i = 1; i <= 4; ++i) {
    publish_static(one, i);
    ASSERT_TRUE(reaches([&] { return of_topic(recorder.report(), kStatic.name).recorded == i; }, 60s));
  }
  publish_static(two, 100);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 5; }, 60s));
  split(recorder, ticks, 1);
  recorder.stop();
  EXPECT_EQ(times_in(file(1), kStatic.name).size(), 5U);
  EXPECT_EQ(times_in(file(2), kStatic.name).size(), 2U) << "the last one of each";
}

TEST_F(LatchedRecording, TheLastOfManyLargeSamplesIsThereOnceTheTopicIsQuiet) {
  Publisher camera{kCamera};
  Publisher ticks{Topic<CanFrame>{"/ticks", {}}};
  Recorder recorder(splitting());
  for (std::uint32_t i = 1; i <= 20; ++i) publish_image(camera, i);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 20; }, 60s));
  std::this_thread::sleep_for(1200ms);
  split(recorder, ticks, 1);
  recorder.stop();
  const std::vector<std::uint32_t> numbers = numbers_in(file(2), kCamera.name);
  ASSERT_FALSE(numbers.empty());
  EXPECT_EQ(numbers.back(), 20U);
}

TEST_F(LatchedRecording, AFlightRecordersEventHasThem) {
  RecorderOptions o = options();
  o.keep_last = 400ms;
  o.split_time = 100ms;
  Publisher camera{kCamera};
  Publisher fixed{kStatic};
  Publisher ticks{Topic<CanFrame>{"/ticks", {}}};
  Recorder recorder(o);
  publish_image(camera, 1);
  publish_static(fixed, 7);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 2; }, 60s));
  std::uint32_t tick = 0;
  ASSERT_TRUE(reaches(
      [&] {
        publish_static(ticks, ++tick);
        const std::vector<std::string> files = recorder.report().files;
        return !files.empty() && files.front() > file(3);
      },
      60s))
      << "the files in which they were published are gone";
  recorder.trigger();
  recorder.stop();
  const std::vector<std::string> files = recorder.report().files;
  ASSERT_FALSE(files.empty());
  for (const std::string& path : files) {
    expect_good(path);
    EXPECT_EQ(numbers_in(path, kCamera.name), up_to(1)) << path;
    EXPECT_EQ(times_in(path, kStatic.name).size(), 1U) << path;
  }
}

TEST_F(LatchedRecording, RepeatedMessagesDoNotFillAFile) {
  RecorderOptions o = options();
  o.split_bytes = 200'000;  // the image alone has more
  Publisher camera{kCamera};
  Publisher ticks{Topic<CanFrame>{"/ticks", {}}};
  Recorder recorder(o);
  publish_image(camera, 1);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 1; }, 60s));
  for (std::uint32_t i = 1; i <= 50; ++i) {
    publish_static(ticks, i);
    ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 1 + i; }, 60s));
  }
  recorder.stop();
  EXPECT_LE(recorder.report().files.size(), 10U);
}

TEST(LastSamples, LargeOnesAreKeptIfTheyAreRareOrTheTopicIsQuiet) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  LastSamples last(4);
  std::uint32_t number = 0;
  const auto add = [&](std::uint64_t bytes, std::int64_t at) {
    const Keep keep = last.keep(1, bytes, at);
    KeptMessage message{.head = {.sequence = ++number}, .stream = 1, .whole = keep.whole};
    if (keep.whole) message.data.resize(bytes);
    last.add(std::move(message));
  };
  const auto kept = [&] {
    std::vector<const KeptMessage*> messages;
    last.list(messages);
    std::vector<std::uint32_t> numbers;
    for (const KeptMessage* const message : messages) numbers.push_back(message->head.sequence);
    return numbers;
  };
  using Numbers = std::vector<std::uint32_t>;
  for (int i = 1; i <= 6; ++i) add(100, i);
  EXPECT_EQ(kept(), (Numbers{3, 4, 5, 6})) << "small ones always, up to the depth";
  add(100'000, 10 * kSecond);
  EXPECT_EQ(kept(), (Numbers{4, 5, 6, 7})) << "the first large one";
  add(100'000, 10 * kSecond + 1000);
  EXPECT_EQ(kept(), Numbers{}) << "one of a stream: it would be given without those before it";
  EXPECT_FALSE(last.take_quiet(10 * kSecond + 2000));
  const auto quiet = last.take_quiet(11 * kSecond + 1000);
  ASSERT_TRUE(quiet);
  EXPECT_EQ(quiet->head.sequence, 8U);
  EXPECT_FALSE(last.take_quiet(12 * kSecond)) << "once";
  add(100'000, 20 * kSecond);
  add(LastSamples::kMostBytes, 30 * kSecond);
  EXPECT_EQ(kept(), Numbers{10}) << "the newest, whatever its size";
  EXPECT_EQ(last.bytes(), LastSamples::kMostBytes);
}

}  // namespace
}  // namespace cardan::record
