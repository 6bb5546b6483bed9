// SPDX-License-Identifier: Apache-2.0
// The recorder writes causes, and the ways are found by them.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "cardan/mcap/rewrite.hpp"
#include "src/record/player/file_set.hpp"
#include "src/record/recorded_chain.hpp"
#include "src/record/recorder/batches.hpp"
#include "src/record/recorder/cause_log.hpp"
#include "src/record/recorder/recording_test.hpp"

namespace cardan::record {
namespace {

using namespace test;

constexpr Topic<Image> kPictures{"/camera/front", {.max_bytes = kRows * kColumns * 3, .depth = 256}};
constexpr Topic<Imu> kObjects{"/objects", {.depth = 256}};
constexpr Topic<Imu> kCommands{"/command", {.depth = 256}};

class RecordedCausesTest : public RecorderTest {
 protected:
  struct Times {
    std::int64_t picture = 0, object = 0, command = 0;
  };
  /// A picture, the objects in it, and a command that rests on them.
  void drive() {
    publish_image(camera_, ++number_);
    const auto picture = pictures_.take();
    ASSERT_TRUE(picture);
    auto objects = objects_.loan();
    objects.rests_on(picture);
    objects_.publish(std::move(objects));
    const auto object = found_.take();
    ASSERT_TRUE(object);
    if (number_ % 3 == 0) std::this_thread::sleep_for(1ms);
    auto command = commands_.loan();
    command.rests_on(object);
    commands_.publish(std::move(command));
    const auto done = done_.take();
    ASSERT_TRUE(done);
    times_.push_back({picture.publish_time(), object.publish_time(), done.publish_time()});
  }
  /// Not before all is there: on a busy computer, a topic may be attached late.
  static void stop(Recorder& recorder, std::uint64_t samples) {
    EXPECT_TRUE(reaches([&] { return recorder.report().recorded == samples; }));
    recorder.stop();
  }
  static std::uint64_t messages(const std::string& path) {
    const mcap::Reader reader(path);
    for (const auto& [id, channel] : reader.summary().channels())
      if (channel.topic == kCausesTopic) return reader.summary().statistics().channel_message_counts.at(id);
    return 0;
  }
  static RecordedChain chain_in(const std::vector<std::string>& paths) {
    const FileSet files(paths);
    FileMessages all(files, 0, mcap::kNoEnd,
                     [](std::size_t, const mcap::Channel& channel) { return channel.topic == kCausesTopic; });
    RecordedCauses causes;
    while (const auto one = all.next()) EXPECT_TRUE(causes.add(one->view.message.data, one->view.message.log_time));
    return causes.chain(kPictures.name, kCommands.name);
  }
  void expect_the_truth(const RecordedChain& chain) const {
    ASSERT_EQ(chain.ways.size(), 1U);
    const RecordedWay& way = chain.ways[0];
    ASSERT_EQ(way.frames.size(), times_.size());
    EXPECT_EQ(way.topics, (std::vector<std::string>{kPictures.name, kObjects.name, kCommands.name}));
    for (std::size_t i = 0; i < times_.size(); ++i) {
      EXPECT_EQ(way.frames[i].sequence, i + 1);
      EXPECT_LE(std::abs(way.times(i)[0] - (times_[i].object - times_[i].picture)), 1'000) << i;
      EXPECT_LE(std::abs(way.times(i)[1] - (times_[i].command - times_[i].object)), 1'000) << i;
    }
  }

  Publisher<Image> camera_{kPictures};
  Publisher<Imu> objects_{kObjects}, commands_{kCommands};
  Subscriber<Image> pictures_{kPictures};
  Subscriber<Imu> found_{kObjects}, done_{kCommands};
  std::uint32_t number_ = 0;
  std::vector<Times> times_;
};

TEST_F(RecordedCausesTest, EachHopOfEachFrameIsFoundInTheFile) {
  constexpr std::uint32_t kFrames = 200;
  RecorderOptions o = options();
  Recorder recorder(o);
  for (std::uint32_t i = 0; i < kFrames; ++i) drive();
  stop(recorder, 3 * kFrames);
  const RecorderReport report = recorder.report();
  EXPECT_EQ(report.recorded, 3 * kFrames) << "causes are no samples of a topic";
  EXPECT_EQ(report.lost, 0U);
  EXPECT_EQ(report.causes_left_out, 0U);
  expect_good(o.path);
  const RecordedChain chain = chain_in({o.path});
  EXPECT_EQ(chain.publications, kFrames);
  expect_the_truth(chain);
  EXPECT_EQ(mcap::Reader(o.path).header().profile, "ros2") << "other tools read them";

  const std::string copy = folder_ + "/copy.mcap";
  (void)mcap::rewrite({o.path}, copy, {});
  expect_the_truth(chain_in({copy}));
}

TEST_F(RecordedCausesTest, EachFileHasItsPart) {
  RecorderOptions o = options();
  o.split_bytes = 2 << 20;
  Recorder recorder(o);
  for (std::uint32_t i = 0; i < 40; ++i) {
    drive();
    std::this_thread::sleep_for(30ms);
  }
  stop(recorder, 120);
  const std::vector<std::string> files = recorder.report().files;
  EXPECT_GT(files.size(), 1U);
  for (const std::string& file : files) expect_good(file);
  EXPECT_GT(messages(files.back()), 0U);
  expect_the_truth(chain_in(files));
}

TEST_F(RecordedCausesTest, AFileThatNobodyFinishedHasThem) {
  RecorderOptions o = options();
  Recorder recorder(o);
  for (int i = 0; i < 10; ++i) drive();
  RecordedChain chain;
  const auto found = [&] {
    std::this_thread::sleep_for(100ms);
    chain = chain_in({o.path + ".active"});
    return !chain.ways.empty() && chain.ways[0].frames.size() == times_.size();
  };
  EXPECT_TRUE(reaches(found));
  expect_the_truth(chain);
}

TEST_F(RecordedCausesTest, TheyCanBeSwitchedOff) {
  RecorderOptions o = options();
  o.causes = false;
  Recorder recorder(o);
  for (int i = 0; i < 10; ++i) drive();
  stop(recorder, 30);
  EXPECT_EQ(messages(o.path), 0U);
}

TEST_F(RecordedCausesTest, SensorsAloneHaveNone) {
  RecorderOptions o = options();
  Recorder recorder(o);
  for (std::uint32_t i = 1; i <= 50; ++i) publish_image(camera_, i);
  stop(recorder, 50);
  EXPECT_EQ(messages(o.path), 0U);
}

TEST_F(RecordedCausesTest, ATopicOfTheSameNameIsNotRecorded) {
  Publisher<Imu> liar{Topic<Imu>{"/cardan/causes", {.depth = 256}}};
  RecorderOptions o = options();
  Recorder recorder(o);
  for (int i = 0; i < 5; ++i) drive();
  publish_imu(liar, 1);
  stop(recorder, 15);
  expect_the_truth(chain_in({o.path}));
}

TEST(CauseLogTest, TheWordOfAnotherUserIsNotTaken) {
  CauseLog log(true);
  detail::SampleBlock theirs;
  theirs.foreign = true;
  theirs.stream_id = 7;
  theirs.origin_ns = 5;
  theirs.publish_ns = 10;
  log.add(theirs, "/theirs", 10, 20);
  EXPECT_FALSE(log.take(20, true)) << "nothing rests on anything";
  for (std::int64_t second = 1; second < 10; ++second) {
    log.add(theirs, "/theirs", 10, second * CauseLog::kPatience);
    EXPECT_FALSE(log.take(second * CauseLog::kPatience, false));
  }
}

TEST(CauseLogTest, NoMoreWaitForTheDiskThanThereIsRoomFor) {
  const RecorderOptions options;
  Batches batches(options, [] {});
  const std::vector<std::byte> message(std::size_t{1} << 20);
  int taken = 0;
  while (taken < 100 && batches.add_causes(message, 1, 1)) ++taken;
  EXPECT_GT(taken, 0);
  EXPECT_LT(taken, 100);
  Batches::Ready* const oldest = batches.oldest(1);
  ASSERT_NE(oldest, nullptr);
  EXPECT_GT(batches.take(*oldest).causes_bytes, 0U);
  EXPECT_TRUE(batches.add_causes(message, 1, 1)) << "one has gone to the disk";
}

}  // namespace
}  // namespace cardan::record
