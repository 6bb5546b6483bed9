// SPDX-License-Identifier: Apache-2.0
#include "apps/terminal/rate_window.hpp"

#include <gtest/gtest.h>

namespace {

using cardan::apps::RateWindow;
using Stamps = std::vector<cardan::ObservedStream::Stamp>;
constexpr std::int64_t kMs = 1'000'000;

TEST(RateWindow, AnEvenStream) {
  RateWindow window(1000 * kMs);
  for (std::uint64_t i = 1; i <= 100; ++i) window.add({{i, static_cast<std::int64_t>(i) * 10 * kMs}});
  const auto f = window.figures(1000 * kMs);
  EXPECT_NEAR(f.rate_hz, 100, 0.01);
  EXPECT_NEAR(f.jitter_ns, 0, 1);
  EXPECT_EQ(f.longest_gap_ns, 10 * kMs);
  EXPECT_EQ(f.publications, 100U);
}

TEST(RateWindow, JitterIsTheStandardDeviationOfTheIntervals) {
  RateWindow window(1000 * kMs);
  Stamps stamps;
  std::int64_t at = 0;
  for (std::uint64_t i = 1; i <= 101; ++i) {
    stamps.push_back({i, at});
    at += (i % 2 == 0 ? 12 : 8) * kMs;
  }
  window.add(stamps);
  const auto f = window.figures(stamps.back().publish_ns);
  EXPECT_NEAR(f.rate_hz, 100, 0.01);
  EXPECT_NEAR(f.jitter_ns, 2 * kMs, 1);
  EXPECT_EQ(f.longest_gap_ns, 12 * kMs);
}

TEST(RateWindow, UnseenMessagesCountInTheRateOnly) {
  RateWindow window(1000 * kMs);
  for (std::uint64_t i = 10; i <= 100; i += 10) window.add({{i, static_cast<std::int64_t>(i) * kMs}});
  const auto f = window.figures(100 * kMs);
  EXPECT_NEAR(f.rate_hz, 1000, 0.01);
  EXPECT_EQ(f.jitter_ns, -1);
  EXPECT_EQ(f.longest_gap_ns, kMs);
}

TEST(RateWindow, SilenceIsAGapAndLowersTheRate) {
  RateWindow window(1000 * kMs);
  for (std::uint64_t i = 1; i <= 50; ++i) window.add({{i, static_cast<std::int64_t>(i) * 10 * kMs}});
  const auto f = window.figures(1000 * kMs);
  EXPECT_EQ(f.longest_gap_ns, 500 * kMs);
  EXPECT_LT(f.rate_hz, 60);
  const auto later = window.figures(100'000 * kMs);
  EXPECT_LT(later.rate_hz, 0.1);
}

TEST(RateWindow, NothingAndOne) {
  RateWindow window(1000 * kMs);
  EXPECT_EQ(window.figures(0).rate_hz, 0);
  EXPECT_EQ(window.figures(0).longest_gap_ns, -1);
  window.add({{7, 5 * kMs}});
  window.add({{7, 5 * kMs}, {3, kMs}});
  const auto f = window.figures(25 * kMs);
  EXPECT_EQ(f.publications, 1U);
  EXPECT_EQ(f.rate_hz, 0);
  EXPECT_EQ(f.longest_gap_ns, 20 * kMs);
}

TEST(RateWindow, ForgetsWhatIsOlderThanItself) {
  RateWindow window(100 * kMs);
  for (std::uint64_t i = 1; i <= 100; ++i) window.add({{i, static_cast<std::int64_t>(i) * kMs}});
  (void)window.figures(1000 * kMs);
  for (std::uint64_t i = 101; i <= 110; ++i) window.add({{i, 1000 * kMs + static_cast<std::int64_t>(i) * 10 * kMs}});
  const auto f = window.figures(2100 * kMs);
  EXPECT_NEAR(f.rate_hz, 100, 0.1);
  EXPECT_EQ(f.longest_gap_ns, 1910 * kMs) << "the silence reached into the window";
}

}  // namespace
