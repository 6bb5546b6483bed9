// SPDX-License-Identifier: Apache-2.0
#include "src/base/limiter.hpp"

#include <gtest/gtest.h>

namespace {

using cardan::detail::Limiter;
constexpr std::int64_t kStart = 1'000'000'000'000;

TEST(Limiter, LetsAFewThroughAndCountsTheRest) {
  Limiter limiter(3);
  int through = 0;
  for (int i = 0; i < 1000; ++i) through += limiter.allow({"refused", 5002}, kStart + i) ? 1 : 0;
  EXPECT_EQ(through, 3);
  EXPECT_TRUE(limiter.ended(kStart + Limiter::kWindow - 1).empty());
  EXPECT_EQ(limiter.next_end(), kStart + Limiter::kWindow);
  const auto ended = limiter.ended(kStart + Limiter::kWindow);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].what, "refused");
  EXPECT_EQ(ended[0].uid, 5002U);
  EXPECT_EQ(ended[0].count, 997U);
  EXPECT_EQ(limiter.next_end(), 0);
  EXPECT_TRUE(limiter.allow({"refused", 5002}, kStart + Limiter::kWindow + 1));
}

TEST(Limiter, OneUsersFloodLeavesTheOthersTheirShare) {
  Limiter limiter(2);
  for (int i = 0; i < 100; ++i) limiter.allow({"refused", 5002}, kStart);
  EXPECT_TRUE(limiter.allow({"refused", 1000}, kStart));
  EXPECT_TRUE(limiter.allow({"cut off", 5002}, kStart));
}

TEST(Limiter, ManyUsersCannotMakeItGrow) {
  Limiter limiter(1);
  std::size_t through = 0;
  for (uid_t uid = 0; uid < 100'000; ++uid) through += limiter.allow({"refused", uid}, kStart) ? 1U : 0U;
  EXPECT_LE(through, Limiter::kPairs + 1);
  EXPECT_LE(limiter.ended(kStart + Limiter::kWindow).size(), Limiter::kPairs + 1);
}

}  // namespace
