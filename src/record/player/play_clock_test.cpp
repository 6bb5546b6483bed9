// SPDX-License-Identifier: Apache-2.0
#include "src/record/player/play_clock.hpp"

#include <gtest/gtest.h>

namespace cardan::record {
namespace {

constexpr std::int64_t kClockSecond = 1'000'000'000;

TEST(PlayClock, StandsUntilItRuns) {
  PlayClock clock(1);
  clock.jump(5 * kClockSecond, 2 * kClockSecond);
  EXPECT_EQ(clock.position(9 * kClockSecond), 2 * kClockSecond);
  clock.run(10 * kClockSecond, true);
  EXPECT_EQ(clock.position(10 * kClockSecond), 2 * kClockSecond);
  EXPECT_EQ(clock.position(13 * kClockSecond), 5 * kClockSecond);
  EXPECT_EQ(clock.deadline(5 * kClockSecond), 13 * kClockSecond);
}

TEST(PlayClock, DeadlinesDoNotDriftOverADay) {
  PlayClock clock(1);
  clock.run(123'456'789, true);
  for (std::int64_t i = 0; i < 24 * 3600 * 100; i += 977)
    EXPECT_EQ(clock.deadline(i * 10'000'000), 123'456'789 + i * 10'000'000);
}

TEST(PlayClock, TheRateScalesBothWays) {
  for (const double rate : {0.1, 0.5, 1.0, 2.0, 10.0, 100.0}) {
    PlayClock clock(rate);
    clock.run(7 * kClockSecond, true);
    const std::int64_t due = clock.deadline(50 * kClockSecond);
    EXPECT_NEAR(static_cast<double>(due - 7 * kClockSecond), 50e9 / rate, 2);
    EXPECT_NEAR(static_cast<double>(clock.position(due)), 50e9, 200);
  }
}

TEST(PlayClock, AnotherRateContinuesFromWhereItIs) {
  PlayClock clock(1);
  clock.run(0, true);
  clock.set_rate(10 * kClockSecond, 4);
  EXPECT_EQ(clock.position(10 * kClockSecond), 10 * kClockSecond);
  EXPECT_EQ(clock.position(11 * kClockSecond), 14 * kClockSecond);
  EXPECT_EQ(clock.deadline(18 * kClockSecond), 12 * kClockSecond);
}

TEST(PlayClock, APauseIsNotPlayed) {
  PlayClock clock(2);
  clock.run(0, true);
  clock.run(3 * kClockSecond, false);
  EXPECT_EQ(clock.position(100 * kClockSecond), 6 * kClockSecond);
  clock.set_rate(100 * kClockSecond, 1);
  EXPECT_EQ(clock.position(200 * kClockSecond), 6 * kClockSecond);
  clock.run(200 * kClockSecond, true);
  EXPECT_EQ(clock.deadline(8 * kClockSecond), 202 * kClockSecond);
}

TEST(PlayClock, GivingWayMovesAllThatIsStillToCome) {
  PlayClock clock(2);
  clock.run(0, true);
  const std::int64_t before = clock.deadline(10 * kClockSecond);
  clock.give_way(3 * kClockSecond);
  EXPECT_EQ(clock.deadline(10 * kClockSecond), before + 3 * kClockSecond);
  EXPECT_EQ(clock.position(before + 3 * kClockSecond), 10 * kClockSecond);
}

}  // namespace
}  // namespace cardan::record
