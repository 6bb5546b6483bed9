// SPDX-License-Identifier: Apache-2.0
// Played messages come at their times, from the place that was asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "cardan/error.hpp"
#include "cardan/subscriber.hpp"
#include "src/record/player/playing_test.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::record {
namespace {

using namespace std::chrono_literals;
using mcap::test::FileOnDisk;
using test::Played;
using test::Playing;
using test::soon;

class PlayerTimes : public cardan::test::OwnRunDirectory, protected Playing {};

// ---------------------------------------------------------------- times

TEST_F(PlayerTimes, TimesAreThoseOfTheRecordingScaledByTheRate) {
  const FileOnDisk file(counting(50));
  for (const double rate : {0.25, 1.0, 3.0, 50.0}) {
    played_.clear();
    Player player({file.path()}, noting({.rate = rate}));
    player.run();
    ASSERT_EQ(played_.size(), 75U);
    for (const Played& p : played_)
      EXPECT_NEAR(static_cast<double>(p.at), static_cast<double>(p.recorded) / rate, 2) << rate;
    EXPECT_EQ(recorded_tenths("/count"), numbers(0, 50));
    EXPECT_TRUE(std::is_sorted(played_.begin(), played_.end(), [](const Played& a, const Played& b) {
      return a.recorded < b.recorded;
    })) << "no topic overtakes another one";
  }
}

TEST_F(PlayerTimes, TheRateMayChangeMeanwhile) {
  const FileOnDisk file(counting(40));
  Player* player = nullptr;
  Player p({file.path()}, noting({.exclude = {"/half"}, .on_played = [&](const PlayedMessage&) {
                                    if (played_.size() == 21) player->set_rate(10);
                                  }}));
  player = &p;
  p.run();
  ASSERT_EQ(played_.size(), 40U);
  EXPECT_NEAR(static_cast<double>(played_[20].at), 2e9, 10);
  EXPECT_NEAR(static_cast<double>(played_[39].at), 2e9 + 0.19e9, 10);
  EXPECT_THROW(p.set_rate(0), Error);
}

/// Starts in 1970, 10 messages each 100 ms, and continues as kBegin says.
mcap::Bytes from_1970() {
  test::Bag bag({.chunk_bytes = 300});
  const auto channel = bag.add<CanFrame>("/count");
  for (std::uint32_t i = 0; i < 20; ++i) {
    CanFrame frame;
    frame.id = i;
    const std::uint64_t at = (i + 1) * test::kSecond / 10;
    bag.write(channel, i < 10 ? at - test::kBegin : at, frame);
  }
  return bag.bytes();
}

TEST_F(PlayerTimes, AGapIsSkipped) {
  const FileOnDisk file(from_1970());
  Player player({file.path()}, noting({.clock_hz = 10}));
  player.run();
  ASSERT_EQ(played_.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i)
    EXPECT_EQ(played_[i].at, static_cast<std::int64_t>(i < 10 ? i : i - 1) * 100'000'000) << i;
  const PlayerReport report = player.report();
  EXPECT_EQ(report.gaps, 1U);
  EXPECT_EQ(report.skipped_ns, static_cast<std::int64_t>(test::kBegin + 100'000'000));
  EXPECT_EQ(report.position_ns, report.end_ns);
}

TEST_F(PlayerTimes, MessagesTooFarFromTheFirstAreReported) {
  test::Bag bag;
  const auto channel = bag.add<CanFrame>("/can");
  for (const std::uint64_t at : {std::uint64_t{0}, test::kSecond, std::uint64_t{1} << 63})
    bag.write(channel, at, CanFrame{});
  const FileOnDisk file(bag.bytes());
  Player whole({file.path()}, noting({}));
  whole.run();
  EXPECT_EQ(played_.size(), 2U);
  ASSERT_EQ(whole.report().problems.size(), 1U);
  EXPECT_NE(whole.report().problems[0].find("292 years"), std::string::npos);
  Player part({file.path()}, noting({.until = std::chrono::seconds(2)}));
  EXPECT_TRUE(part.report().problems.empty()) << "it was not asked for";
}

TEST_F(PlayerTimes, AGapIsWaitedForIfThatIsAskedFor) {
  const FileOnDisk file(from_1970());
  Player player({file.path()}, noting({.max_gap = {}}));
  player.run();
  ASSERT_EQ(played_.size(), 20U);
  EXPECT_EQ(played_[10].at, static_cast<std::int64_t>(test::kBegin + test::kSecond));
  EXPECT_EQ(player.report().gaps, 0U);
}

TEST_F(PlayerTimes, AStallMakesTheRecordingWait) {
  const FileOnDisk file(counting(20));
  Player player({file.path()}, noting({.exclude = {"/half"}, .on_played = [&](const PlayedMessage&) {
                                         if (played_.size() == 10) time_->pass(3'000'000'000);
                                         if (played_.size() == 15) time_->pass(150'000'000);
                                       }}));
  player.run();
  ASSERT_EQ(played_.size(), 20U);
  // Message 10 is 2.9 s late; those after it keep their distance to it. A delay of only 50 ms is caught up with.
  EXPECT_EQ(played_[10].at, 3'900'000'000);
  EXPECT_EQ(played_[11].at, 4'000'000'000);
  EXPECT_EQ(played_[15].at, 4'450'000'000);
  EXPECT_EQ(played_[16].at, 4'500'000'000);
  const PlayerReport report = player.report();
  EXPECT_EQ(report.gave_way_ns, 2'900'000'000);
  EXPECT_EQ(report.late_most, 2'900'000'000);
  EXPECT_EQ(report.timed, 20U);
  EXPECT_LT(report.late_p50, 1000);
}

TEST_F(PlayerTimes, APartIsPlayed) {
  const FileOnDisk file(counting(50));
  Player player({file.path()}, noting({.start = 1s, .until = 2500ms}));
  player.run();
  EXPECT_EQ(recorded_tenths("/count"), numbers(10, 25));
  EXPECT_EQ(played_.front().at, 0);
  const PlayerReport report = player.report();
  EXPECT_EQ(report.start_ns, 1'000'000'000);
  EXPECT_EQ(report.end_ns, 2'500'000'000);
  EXPECT_THROW(Player({file.path()}, {.start = 2s, .until = 1s}), Error);
}

TEST_F(PlayerTimes, LoopsWithoutAGap) {
  const FileOnDisk file(counting(10));
  Player* player = nullptr;
  Player p({file.path()},
           noting({.loop = true, .until = 500ms, .exclude = {"/half"}, .on_played = [&](const PlayedMessage&) {
                     if (played_.size() == 17) player->stop();
                   }}));
  player = &p;
  p.run();
  ASSERT_EQ(played_.size(), 17U);
  for (std::size_t i = 0; i < played_.size(); ++i) {
    EXPECT_EQ(played_[i].recorded / 100'000'000, static_cast<std::int64_t>(i % 5));
    EXPECT_EQ(played_[i].at, static_cast<std::int64_t>(i) * 100'000'000);
  }
  EXPECT_EQ(p.report().lap, 3U);
}

TEST_F(PlayerTimes, ALoopOfNothingEnds) {
  const FileOnDisk file(counting(10));
  Player player({file.path()}, noting({.loop = true, .start = 3s}));
  player.run();
  EXPECT_TRUE(played_.empty());
}

TEST_F(PlayerTimes, SeeksBothWays) {
  const FileOnDisk file(counting(60));
  Player* player = nullptr;
  Player p({file.path()}, noting({.exclude = {"/half"}, .on_played = [&](const PlayedMessage&) {
                                    if (played_.size() == 5) player->seek(4050ms);
                                    if (played_.size() == 10) player->seek(1s);
                                  }}));
  player = &p;
  p.run();
  std::vector<std::int64_t> expected = numbers(0, 5);
  for (const auto& part : {numbers(41, 46), numbers(10, 60)}) expected.insert(expected.end(), part.begin(), part.end());
  EXPECT_EQ(recorded_tenths("/count"), expected);
  EXPECT_EQ(played_[5].at - played_[4].at, 50'000'000) << "from 4.05 s, the next message is at 4.1 s";
  EXPECT_EQ(played_[10].at, played_[9].at);
}

TEST_F(PlayerTimes, PausesAndSteps) {
  const FileOnDisk file(counting(20));
  Player player({file.path()}, noting({.exclude = {"/half"}, .paused = true}));
  std::thread playing([&] { player.run(); });
  player.step(2);
  EXPECT_TRUE(soon([&] { return player.report().published == 2; }));
  player.step();
  EXPECT_TRUE(soon([&] { return player.report().published == 3; }));
  std::this_thread::sleep_for(20ms);
  PlayerReport report = player.report();
  EXPECT_EQ(report.published, 3U);
  EXPECT_TRUE(report.paused);
  EXPECT_EQ(report.position_ns, 200'000'000);
  EXPECT_EQ(report.timed, 0U) << "what is asked for is never late";
  player.pause(false);
  playing.join();
  EXPECT_EQ(recorded_tenths("/count"), numbers(0, 20));
  EXPECT_EQ(played_[19].at - played_[3].at, 1'600'000'000);
}

TEST_F(PlayerTimes, TheClockGoesWithTheMessages) {
  const FileOnDisk file(counting(40));
  Subscriber<Clock> clock(Topic<Clock>{"/clock", {}});
  std::vector<std::int64_t> behind;
  std::int64_t ticks = 0;
  Sample<Clock> newest;
  Player player({file.path()},
                noting({.rate = 2, .exclude = {"/half"}, .clock_hz = 40, .on_played = [&](const PlayedMessage& m) {
                          while (auto tick = clock.take()) {
                            ticks += static_cast<std::int64_t>(tick.missed()) + 1;
                            newest = tick;
                          }
                          ASSERT_TRUE(newest);
                          behind.push_back(static_cast<std::int64_t>(m.log_time) - newest->clock);
                        }}));
  ASSERT_TRUE(soon([&] { return clock.publishers() == 1; }));
  player.run();
  ASSERT_EQ(behind.size(), 40U);
  for (const std::int64_t b : behind) {
    EXPECT_GE(b, 0) << "it is not ahead of what is played";
    EXPECT_LT(b, 50'000'000) << "a tick each 25 ms, at twice the speed";
  }
  EXPECT_EQ(ticks, 3'900 / 50 + 1);
}

}  // namespace
}  // namespace cardan::record
