// SPDX-License-Identifier: Apache-2.0
// Lessons from hints, and hints that are not believed.
#include "src/record/schedule/rhythm.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace cardan::record::schedule {
namespace {

using Heard = Rhythm::Heard;
constexpr std::int64_t kStart = 5'000'000'000'000;

/// The hint of cycle `n` of a perfectly regular application.
CycleHint cycle(std::uint64_t n, bool busy, std::int64_t period = 20 * kMillisecond,
                std::int64_t work = 8 * kMillisecond) {
  CycleHint h;
  h.name = "control";
  h.count = n;
  h.busy = busy;
  h.begin_ns = kStart + static_cast<std::int64_t>(n) * period;
  h.end_ns = busy ? (n > 1 ? h.begin_ns - period + work : 0) : h.begin_ns + work;
  h.worked_ns = h.end_ns == 0 ? 0 : work;
  return h;
}
std::int64_t stamp(const CycleHint& h) { return h.busy ? h.begin_ns : h.end_ns; }
Heard hear(Rhythm& r, const CycleHint& h) { return r.hear(h, stamp(h) + kMicrosecond); }

TEST(Rhythm, LearnsPeriodAndWork) {
  Rhythm r;
  for (std::uint64_t n = 1; n <= 4; ++n) {
    EXPECT_EQ(hear(r, cycle(n, true)), Heard::News);
    EXPECT_TRUE(r.busy());
    EXPECT_EQ(hear(r, cycle(n, false)), Heard::News);
    EXPECT_EQ(hear(r, cycle(n, false)), Heard::Nothing);
  }
  EXPECT_TRUE(r.regular());
  EXPECT_EQ(r.period(), 20 * kMillisecond);
  EXPECT_EQ(r.work().mean, 8 * kMillisecond);
  EXPECT_EQ(r.intervals().deviation, 0);
  EXPECT_EQ(r.misses().mean, 0);
  const std::int64_t next = cycle(5, true).begin_ns;
  const std::int64_t now = stamp(cycle(4, false)) + kMillisecond;
  EXPECT_LT(r.quiet_until(now, kMillisecond), next - kMillisecond + 1);
  EXPECT_GT(r.quiet_until(now, kMillisecond), next - 2 * kMillisecond);
  EXPECT_LT(r.quiet_until(next - kMillisecond / 2, kMillisecond), next - kMillisecond / 2) << "about to begin";
}

TEST(Rhythm, LearnsAlsoWhenItSeesFewHints) {
  for (const bool busy : {true, false}) {  // always in the same phase, as a recorder does that looks in idle windows
    Rhythm r;
    for (std::uint64_t n = 3; n < 100; n += 7) hear(r, cycle(n, busy));
    EXPECT_TRUE(r.regular());
    EXPECT_EQ(r.period(), 20 * kMillisecond);
    EXPECT_EQ(r.work().mean, 8 * kMillisecond);
  }
}

TEST(Rhythm, SaysHowFarItWasOff) {
  Rhythm r;
  for (std::uint64_t n = 1; n <= 40; ++n) {
    CycleHint h = cycle(n, true);
    h.begin_ns += n % 2 == 0 ? kMillisecond : -kMillisecond;
    hear(r, h);
  }
  EXPECT_TRUE(r.regular());
  EXPECT_NEAR(static_cast<double>(r.period()), 20e6, 1e6);
  EXPECT_NEAR(static_cast<double>(r.intervals().deviation), 2e6, 0.5e6);
  EXPECT_NEAR(static_cast<double>(r.misses().mean), 2e6, 1e6);
}

TEST(Rhythm, SamplesAtArbitraryTimesAreNotRegular) {
  Rhythm r;
  for (std::uint64_t n = 1; n <= 40; ++n) {
    CycleHint h = cycle(n, true, 40 * kMillisecond);
    if (n % 3 == 0) h.begin_ns += 24 * kMillisecond;
    hear(r, h);
  }
  EXPECT_FALSE(r.regular());
}

TEST(Rhythm, UntilItHasLearnedItBelievesTheStatedPeriod) {
  Rhythm r;
  CycleHint h = cycle(1, false);
  EXPECT_EQ(hear(r, h), Heard::News);
  EXPECT_FALSE(r.regular());
  EXPECT_EQ(r.period(), 0);
  h = cycle(2, false);
  h.period_ns = 30 * kMillisecond;
  hear(r, h);
  EXPECT_TRUE(r.regular());
  EXPECT_EQ(r.period(), 30 * kMillisecond);
  h = cycle(3, false);
  h.period_ns = 30 * kMillisecond;
  hear(r, h);
  EXPECT_EQ(r.period(), 20 * kMillisecond) << "what it does counts more than what it says";
}

TEST(Rhythm, APauseIsForgottenANewRhythmIsLearned) {
  Rhythm r;
  for (std::uint64_t n = 1; n <= 10; ++n) hear(r, cycle(n, true));
  CycleHint late = cycle(11, true);
  late.begin_ns += 3'000 * kMillisecond;
  hear(r, late);
  EXPECT_EQ(r.period(), 20 * kMillisecond);
  EXPECT_TRUE(r.regular());
  for (std::uint64_t n = 12; n < 20; ++n) hear(r, cycle(n + 1'000, true, 400 * kMillisecond));
  EXPECT_NEAR(static_cast<double>(r.period()), 400e6, 1e6);
}

TEST(Rhythm, SilenceEndsIt) {
  Rhythm r;
  for (std::uint64_t n = 1; n <= 10; ++n) hear(r, cycle(n, n < 10));
  const std::int64_t last = stamp(cycle(10, false));
  EXPECT_TRUE(r.alive(last + 60 * kMillisecond));
  EXPECT_FALSE(r.alive(last + 100 * kMillisecond));
  CycleHint first;
  first.name = "x";
  first.count = 1;
  first.begin_ns = kStart;
  first.busy = true;
  Rhythm unknown;
  hear(unknown, first);
  EXPECT_TRUE(unknown.alive(kStart + 500 * kMillisecond));
  EXPECT_FALSE(unknown.alive(kStart + 2'000 * kMillisecond)) << "it began and never ended";
}

TEST(Rhythm, ASkippedCycleIsExpectedAgainOnePeriodLater) {
  Rhythm r;
  for (std::uint64_t n = 1; n <= 10; ++n) hear(r, cycle(n, false));
  const std::int64_t next = cycle(11, true).begin_ns;
  const std::int64_t later = next + 5 * kMillisecond;
  EXPECT_GT(r.quiet_until(later, kMillisecond), next + 18 * kMillisecond);
  EXPECT_LT(r.quiet_until(later, kMillisecond), next + 20 * kMillisecond);
}

TEST(Rhythm, BusyOnesAreLookedAtAgainWhenTheyShouldBeThrough) {
  Rhythm r;
  for (std::uint64_t n = 1; n <= 10; ++n) hear(r, cycle(n, true));
  const std::int64_t begin = cycle(10, true).begin_ns;
  EXPECT_EQ(r.busy_until(begin + kMillisecond), begin + 8 * kMillisecond);
  for (const std::int64_t later : {8, 9, 50, 5'000}) {
    const std::int64_t now = begin + later * kMillisecond;
    EXPECT_GT(r.busy_until(now), now);
    EXPECT_LE(r.busy_until(now), now + 2 * kMillisecond);
  }
}

TEST(Rhythm, AbsurdHintsTeachNothing) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  const std::int64_t now = stamp(cycle(5, false)) + kMicrosecond;
  const auto refused = [&](auto change) {
    Rhythm r;
    for (std::uint64_t n = 1; n < 5; ++n) hear(r, cycle(n, false));
    CycleHint h = cycle(5, false);
    change(h);
    const bool absurd = r.hear(h, now) == Heard::Absurd;
    return absurd && r.period() == 20 * kMillisecond && r.count() == 4;
  };
  for (const std::int64_t bad : {kMost, kLeast, std::int64_t{-1}, now + 2 * kMillisecond}) {
    EXPECT_TRUE(refused([&](CycleHint& h) { h.begin_ns = bad; })) << bad;
    EXPECT_TRUE(refused([&](CycleHint& h) { h.end_ns = bad; })) << bad;
  }
  for (const std::int64_t bad : {kMost, kLeast, std::int64_t{-1}}) {
    EXPECT_TRUE(refused([&](CycleHint& h) { h.worked_ns = bad; })) << bad;
    EXPECT_TRUE(refused([&](CycleHint& h) { h.period_ns = bad; })) << bad;
  }
  EXPECT_TRUE(refused([](CycleHint& h) { h.begin_ns = 0; }));
  EXPECT_TRUE(refused([](CycleHint& h) { h.begin_ns = h.end_ns + 1; })) << "it ended before it began";
  EXPECT_TRUE(refused([](CycleHint& h) {
    h.busy = true;
    h.end_ns = h.begin_ns + 1;
  })) << "the last one ended after this one began";
  EXPECT_TRUE(refused([](CycleHint& h) { h.begin_ns = 1; })) << "an hour and more for one cycle";
  EXPECT_TRUE(refused([](CycleHint& h) { h.count = 0; }));
  EXPECT_TRUE(refused([](CycleHint& h) { h.name.clear(); }));
  for (const double bad :
       {0.0, -1.0, 1000.1, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_TRUE(refused([&](CycleHint& h) { h.weight = bad; })) << bad;
}

TEST(Rhythm, AContradictionStartsOver) {
  const auto starts_over = [&](auto change) {
    Rhythm r;
    for (std::uint64_t n = 1; n <= 5; ++n) hear(r, cycle(n, false));
    CycleHint h = cycle(6, false);
    change(h);
    return r.hear(h, stamp(cycle(6, false)) + kMicrosecond) == Heard::News && r.period() == 0;
  };
  EXPECT_FALSE(starts_over([](CycleHint&) {}));
  EXPECT_TRUE(starts_over([](CycleHint& h) { h.count = 3; }));
  EXPECT_TRUE(starts_over([](CycleHint& h) { h.count = std::numeric_limits<std::uint64_t>::max(); }));
  EXPECT_TRUE(starts_over([](CycleHint& h) { h.count = 5; })) << "another begin of the same cycle";
  EXPECT_TRUE(starts_over([](CycleHint& h) { h.begin_ns = cycle(5, false).begin_ns - 1; }));
}

}  // namespace
}  // namespace cardan::record::schedule
