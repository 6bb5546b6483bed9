// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/log_rate.hpp"

#include <gtest/gtest.h>

namespace cardan::launcher {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(LogRate, OrdinaryLinesPass) {
  LogRate rate;
  for (std::int64_t i = 0; i < 20'000; ++i) ASSERT_TRUE(rate.allow(100, i * kSecond / 500)) << i;
  EXPECT_EQ(rate.take().lines, 0U);
}

TEST(LogRate, AFloodIsCutAndCounted) {
  LogRate rate;
  std::uint64_t passed = 0;
  std::uint64_t all = 0;
  for (std::int64_t at = 0; at < 10 * kSecond; at += 10'000, ++all) passed += rate.allow(20, at) ? 1U : 0U;
  EXPECT_LE(passed, 15'001U);
  EXPECT_GE(passed, 14'000U);
  const LogRate::LeftOut left = rate.take();
  EXPECT_EQ(left.lines, all - passed);
  EXPECT_EQ(left.bytes, 21 * (all - passed));
  EXPECT_EQ(rate.take().lines, 0U);
}

TEST(LogRate, LongLinesAreCutByTheirBytes) {
  LogRate rate;
  std::uint64_t bytes = 0;
  for (std::int64_t at = 0; at < 10 * kSecond; at += kSecond / 100)
    if (rate.allow(16'383, at)) bytes += 16'384;
  EXPECT_LE(bytes, 15U * LogRate::kBytes);
  EXPECT_GE(bytes, 14U * LogRate::kBytes);
}

TEST(LogRate, AfterAPauseLinesPassAgain) {
  LogRate rate;
  while (rate.allow(10, 0)) {
  }
  EXPECT_FALSE(rate.allow(10, 0));
  EXPECT_TRUE(rate.allow(10, kSecond / 100));
  EXPECT_FALSE(LogRate().allow(LogRate::kBytes * LogRate::kSeconds, 0)) << "larger than all that may come at once";
}

}  // namespace
}  // namespace cardan::launcher
