// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/refusals.hpp"

#include <gtest/gtest.h>

namespace {

using cardan::detail::RefusalBudget;
using cardan::detail::RefusalsInARow;

TEST(RefusalBudget, EndsAfterFramesOrBytes) {
  RefusalBudget small;
  for (std::uint32_t i = 0; i < RefusalBudget::kFrames; ++i) {
    EXPECT_FALSE(small.spent());
    small.damaged(100);
  }
  EXPECT_TRUE(small.spent());
  RefusalBudget large;
  large.damaged(RefusalBudget::kBytes - 1);
  EXPECT_FALSE(large.spent());
  large.damaged(1);
  EXPECT_TRUE(large.spent());
}

TEST(RefusalBudget, OldFramesCostLittle) {
  RefusalBudget budget;
  for (std::uint32_t i = 0; i < RefusalBudget::kTooOld; ++i) {
    EXPECT_FALSE(budget.spent());
    budget.too_old();
  }
  EXPECT_TRUE(budget.spent());
}

TEST(RefusalsInARow, OneGoodFrameBetweenThemRestartsTheCount) {
  RefusalsInARow row;
  for (std::uint32_t round = 0; round < 10; ++round)
    for (std::uint32_t i = 0; i + 1 < RefusalsInARow::kMost; ++i) EXPECT_FALSE(row.add(100, round));
  EXPECT_TRUE(row.add(100, 9));
}

TEST(RefusalsInARow, OfLargeFramesFewerAreEnough) {
  RefusalsInARow row;
  for (std::uint32_t i = 0; i + 1 < RefusalsInARow::kFewest; ++i) EXPECT_FALSE(row.add(std::uint64_t{1} << 30, 0));
  EXPECT_TRUE(row.add(std::uint64_t{1} << 30, 0));
}

}  // namespace
