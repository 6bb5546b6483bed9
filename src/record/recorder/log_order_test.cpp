// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/log_order.hpp"

#include <gtest/gtest.h>

namespace cardan::record {
namespace {

constexpr std::uint64_t kTime = 1'700'000'000'000'000'000;

TEST(LogOrder, TimesThatRiseStayAsTheyAre) {
  LogOrder order;
  for (const std::uint64_t time : {std::uint64_t{0}, kTime, kTime, kTime + 1}) EXPECT_EQ(order.in_order(time), time);
}

TEST(LogOrder, ALittleBackIsNotBack) {
  LogOrder order;
  EXPECT_EQ(order.in_order(kTime), kTime);
  EXPECT_EQ(order.in_order(kTime - 1), kTime);
  EXPECT_EQ(order.in_order(kTime - LogOrder::kALittle), kTime) << "of the latest, not of the one before";
  EXPECT_EQ(order.in_order(kTime + 1), kTime + 1);
}

TEST(LogOrder, AClockThatIsSetBackIsFollowed) {
  LogOrder order;
  EXPECT_EQ(order.in_order(kTime), kTime);
  const std::uint64_t back = kTime - LogOrder::kALittle - 1;
  EXPECT_EQ(order.in_order(back), back);
  EXPECT_EQ(order.in_order(back + 5), back + 5) << "from there on";
}

}  // namespace
}  // namespace cardan::record
