// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/rotation.hpp"

#include <gtest/gtest.h>

#include "cardan/clock.hpp"
#include "src/record/recorder/recording_test.hpp"

namespace cardan::record {
namespace {

using namespace test;

/// Files without a sample: only where they begin and end matters.
class RotationTest : public RecorderTest {
 protected:
  [[nodiscard]] RecorderOptions splitting() const {
    RecorderOptions o = options();
    o.split_bytes = std::uint64_t{1} << 40;  // on request only
    return o;
  }
  void begin(const RecorderOptions& o) {
    options_ = o;
    options_.sync_interval = {};  // nobody collects completions here
    probe_ = probe_disk(folder_, DiskMode::Plain, false);
    queue_ = make_io_queue(probe_, 16);
    rotation_ = std::make_unique<Rotation>(options_, probe_, *queue_, topics_);
    rotation_->begin();
    rotation_->start(steady_now());
  }
  /// Turns until the file with this number is open, and those before it are finished.
  [[nodiscard]] bool reaches_file(std::uint64_t number) {
    return reaches([&] {
      rotation_->look_after(steady_now());
      return rotation_->current().number() == number && rotation_->finished().size() == number - 1;
    });
  }
  [[nodiscard]] std::string file(int number) const { return folder_ + "/a_000" + std::to_string(number) + ".mcap"; }

  RecorderOptions options_;
  DiskProbe probe_;
  std::unique_ptr<IoQueue> queue_;
  RecordedTopics topics_;
  std::unique_ptr<Rotation> rotation_;
};

TEST_F(RotationTest, ARequestEndsOneFileAndNoMore) {
  begin(splitting());
  EXPECT_EQ(rotation_->active_path(), file(1) + ".active");
  rotation_->look_after(steady_now());
  EXPECT_EQ(rotation_->current().number(), 1U);
  rotation_->split();
  ASSERT_TRUE(reaches_file(2));
  for (int i = 0; i < 100; ++i) rotation_->look_after(steady_now());
  EXPECT_EQ(rotation_->current().number(), 2U);
  const std::uint64_t bytes = rotation_->committed_bytes();
  EXPECT_GT(bytes, rotation_->current().committed_bytes()) << "the finished file counts";
  rotation_->finish_all();
  EXPECT_EQ(rotation_->failure(), "");
  EXPECT_EQ(rotation_->active_path(), "");
  EXPECT_EQ(rotation_->committed_bytes(), bytes);
  EXPECT_EQ(rotation_->finished(), (std::vector<std::string>{file(1), file(2)}));
  expect_good(file(1));
  expect_good(file(2));
}

TEST_F(RotationTest, AFileThatIsOldEnoughIsFollowedWhenTheNextIsThere) {
  RecorderOptions o = options();
  o.split_time = std::chrono::hours(1);
  begin(o);
  const std::int64_t later = steady_now() + std::chrono::nanoseconds(o.split_time).count();
  rotation_->switch_if_due(later - std::chrono::nanoseconds(30min).count());
  EXPECT_EQ(rotation_->current().number(), 1U);
  ASSERT_TRUE(reaches([&] {
    rotation_->switch_if_due(later);
    return rotation_->current().number() == 2;
  }));
  rotation_->switch_if_due(later);
  EXPECT_EQ(rotation_->current().number(), 2U) << "it has just begun";
  rotation_->finish_all();
}

TEST_F(RotationTest, AFlightRecorderForgetsUnlessItKeepsEverything) {
  RecorderOptions o = splitting();
  o.keep_last = 1h;
  begin(o);
  rotation_->split();
  ASSERT_TRUE(reaches_file(2)) << "a file of the last hour stays";
  rotation_->look_after(steady_now() + std::chrono::nanoseconds(2h).count());
  EXPECT_TRUE(rotation_->finished().empty()) << "an old one goes";
  rotation_->finish_all();
  EXPECT_EQ(rotation_->finished(), std::vector<std::string>{file(2)});
  rotation_->keep_everything();
  rotation_->forget_all();
  EXPECT_EQ(rotation_->finished(), std::vector<std::string>{file(2)});
}

TEST_F(RotationTest, AFlightRecorderThatWasNotTriggeredLeavesNothing) {
  RecorderOptions o = splitting();
  o.keep_last = 1h;
  begin(o);
  rotation_->split();
  ASSERT_TRUE(reaches_file(2));
  rotation_->finish_all();
  rotation_->forget_all();
  EXPECT_TRUE(rotation_->finished().empty());
  rotation_.reset();  // files end on its thread
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

}  // namespace
}  // namespace cardan::record
