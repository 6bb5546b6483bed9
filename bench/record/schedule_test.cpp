// SPDX-License-Identifier: Apache-2.0
#include "bench/record/schedule.hpp"

#include <gtest/gtest.h>

namespace cardan::bench::recording {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(Beats, AbsoluteOnesDoNotDrift) {
  Beats beats(Schedule::Absolute, 40, 100, 1000 * kMs);
  for (int n = 0; n < 100; ++n) {
    ASSERT_FALSE(beats.done());
    EXPECT_EQ(beats.due_ns(), 1000 * kMs + n * 25 * kMs);
    beats.made(beats.due_ns() + 7 * kMs);  // making one takes long, and moves no beat
  }
  EXPECT_TRUE(beats.done());
  EXPECT_EQ(beats.skipped(), 0U);
}

TEST(Beats, BeatsLateByWholePeriodsAreSkipped) {
  Beats beats(Schedule::Absolute, 100, 10, 0);
  beats.made(35 * kMs);  // beats at 10 and 20 ms passed; the one at 30 ms is late, and still made
  EXPECT_EQ(beats.skipped(), 2U);
  EXPECT_EQ(beats.due_ns(), 30 * kMs);
  int made = 1;
  for (; !beats.done(); ++made) beats.made(beats.due_ns());
  EXPECT_EQ(made, 8) << "ten beats, of which two were skipped";
}

TEST(Beats, OneThatComesAfterTheLastEndsAll) {
  Beats beats(Schedule::Absolute, 100, 10, 0);
  beats.made(10'000 * kMs);
  EXPECT_TRUE(beats.done());
  EXPECT_EQ(beats.skipped(), 9U);
}

TEST(Beats, IntegerMillisecondsAreCutAndDrift) {
  Beats beats(Schedule::IntegerMs, 36, 3, 0);
  EXPECT_EQ(beats.due_ns(), 0);
  beats.made(2 * kMs);
  EXPECT_EQ(beats.due_ns(), 29 * kMs) << "1000 / 36 = 27.8, cut to 27, from when the message was made";
  beats.made(30 * kMs);
  EXPECT_EQ(beats.due_ns(), 57 * kMs);
  beats.made(500 * kMs);
  EXPECT_TRUE(beats.done());
  EXPECT_EQ(beats.skipped(), 0U) << "it sends all of its messages, however long that takes";
}

TEST(Beats, Names) {
  EXPECT_EQ(name_of(Schedule::Absolute), "absolute");
  EXPECT_EQ(name_of(Schedule::IntegerMs), "integer-ms");
}

}  // namespace
}  // namespace cardan::bench::recording
