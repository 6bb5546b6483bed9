// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/turns.hpp"

#include <gtest/gtest.h>

namespace cardan::bridge::dds {
namespace {

TEST(Turns, ManyQuestionsOfOneKeepNoOtherWaiting) {
  Turns<int, int> turns({.most = 64, .most_of_one = 8});
  for (int i = 0; i < 8; ++i) EXPECT_FALSE(turns.add(1, i));
  EXPECT_EQ(turns.add(1, 8), 8) << "it has eight already";
  EXPECT_FALSE(turns.add(2, 100));
  EXPECT_EQ(turns.take(), 0);
  EXPECT_EQ(turns.take(), 100);
  for (int i = 1; i < 8; ++i) EXPECT_EQ(turns.take(), i);
  EXPECT_EQ(turns.take(), std::nullopt);
  EXPECT_EQ(turns.size(), 0U);
}

TEST(Turns, WhereAllPlacesAreTakenTheOneWithTheMostGivesOne) {
  Turns<int, int> turns({.most = 6, .most_of_one = 4});
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(turns.add(1, i));
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(turns.add(2, 10 + i));
  EXPECT_EQ(turns.add(3, 20), 3) << "the newest of the first";
  EXPECT_EQ(turns.add(2, 12), 12) << "it would then have the same number as the first";
  EXPECT_EQ(turns.size(), 6U);
  EXPECT_EQ(turns.take(), 0);
  EXPECT_EQ(turns.take(), 10);
  EXPECT_EQ(turns.take(), 20);
  EXPECT_EQ(turns.take(), 1);
}

}  // namespace
}  // namespace cardan::bridge::dds
