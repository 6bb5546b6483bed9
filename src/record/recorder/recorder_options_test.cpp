// SPDX-License-Identifier: Apache-2.0
// Options of a recorder besides topics and files.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/record/recorder/recording_test.hpp"

namespace cardan::record {
namespace {

using namespace test;

class RecorderOptionsTest : public RecorderTest {};

TEST_F(RecorderOptionsTest, AReliableTopicWaitsForAReliableRecorder) {
  Publisher plan{Topic<Imu>{"/plan", {.depth = 2, .reliable = true, .reliable_timeout = 60s}}};
  RecorderOptions o = options();
  o.reliable = true;
  Recorder recorder(o);
  ASSERT_TRUE(reaches([&] { return plan.subscribers() == 1; }));
  constexpr std::uint32_t kMany = 3000;  // without a pause: it would lap a subscriber that it does not wait for
  for (std::uint32_t i = 1; i <= kMany; ++i) publish_imu(plan, i);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == kMany; }));
  recorder.stop();
  EXPECT_EQ(recorder.report().lost, 0U);
  EXPECT_EQ(numbers_in(o.path, "/plan"), up_to(kMany));
}

TEST_F(RecorderOptionsTest, StartsPaused) {
  RecorderOptions o = options();
  o.start_paused = true;
  Publisher imu{kImu};
  Recorder recorder(o);
  EXPECT_TRUE(recorder.paused());
  for (std::uint32_t i = 1; i <= 3; ++i) publish_imu(imu, i);
  ASSERT_TRUE(reaches([&] { return of_topic(recorder.report(), kImu.name).left_out == 3; }));
  recorder.pause(false);
  ASSERT_TRUE(reaches([&] { return !recorder.report().paused; }));
  publish_imu(imu, 4);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 1; }));
  recorder.stop();
  EXPECT_EQ(recorder.report().lost, 0U);
  EXPECT_EQ(numbers_in(o.path, kImu.name), std::vector<std::uint32_t>{4});
}

TEST_F(RecorderOptionsTest, LevelsOfCompression) {
  // The same messages in one chunk each time: a higher level makes it smaller.
  const auto bytes_with = [&](int level) {
    RecorderOptions o = options();
    o.path = folder_ + "/level" + std::to_string(level) + ".mcap";
    o.compression = mcap::Compression::Zstd;
    o.level = level;
    o.chunk_time = 1h;
    Publisher imu{kImu};
    Recorder recorder(o);
    EXPECT_TRUE(reaches([&] { return imu.subscribers() == 1; }));
    for (std::uint32_t i = 1; i <= 1000; ++i) publish_imu(imu, i);
    EXPECT_TRUE(reaches([&] { return of_topic(recorder.report(), kImu.name).queued == 1000; }));
    recorder.stop();
    EXPECT_EQ(numbers_in(o.path, kImu.name), up_to(1000));
    return mcap::Reader(o.path).summary().chunks().at(0).compressed_size;
  };
  EXPECT_LT(bytes_with(19), bytes_with(-50));
  RecorderOptions o = options();
  o.compression = mcap::Compression::Zstd;
  o.level = 23;
  EXPECT_THROW(Recorder{o}, Error);
  o.compression = mcap::Compression::None;
  o.rules = {{.pattern = "/imu", .compression = mcap::Compression::Lz4}};
  EXPECT_THROW(Recorder{o}, Error) << "the rule's compression has not that level either";
}

TEST_F(RecorderOptionsTest, TheEndReportsWhatIsLeft) {
  RecorderOptions o = options();
  o.topics = {kImu.name};
  o.compression = mcap::Compression::Zstd;
  o.level = 22;
  Publisher imu{kImu};
  Recorder recorder(o);
  ASSERT_TRUE(reaches([&] { return imu.subscribers() == 1; }));
  for (std::uint32_t i = 1; i <= 2000; ++i) publish_imu(imu, i);
  std::atomic<bool> done{false};
  std::thread end([&] {
    recorder.stop();
    done = true;
  });
  const std::int64_t begun = steady_now();
  std::set<std::int64_t> reports;
  while (!done) {
    reports.insert(recorder.report().duration_ns);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  end.join();
  const std::int64_t intervals = (steady_now() - begun) / 100'000'000;
  EXPECT_GE(static_cast<std::int64_t>(reports.size()), std::min<std::int64_t>(intervals / 5, 3)) << intervals;
}

TEST_F(RecorderOptionsTest, WithoutItsClockNothingIsRecorded) {
  RecorderOptions o = options();
  o.topics = {kImu.name};
  o.simulated_clock = true;
  Publisher imu{kImu};
  Recorder recorder(o);
  ASSERT_TRUE(reaches([&] { return imu.subscribers() == 1; }));
  publish_imu(imu, 1);
  recorder.stop();
  EXPECT_EQ(recorder.report().recorded, 0U);
  EXPECT_TRUE(recorder.report().no_clock);
}

}  // namespace
}  // namespace cardan::record
