// SPDX-License-Identifier: Apache-2.0
#include "demo/report/host_load.hpp"

#include <gtest/gtest.h>

namespace cardan::street {
namespace {

TEST(HostLoad, ReadsTheFirstLineOfProcStat) {
  const HostLoad load = HostLoad::parse("cpu  100 0 50 800 40 0 0 10 0 0\ncpu0 1 2 3\n", 100);
  EXPECT_DOUBLE_EQ(load.all, 10);
  EXPECT_DOUBLE_EQ(load.busy, 1.5);
  EXPECT_DOUBLE_EQ(load.stolen, 0.1);
  EXPECT_DOUBLE_EQ(HostLoad::parse("", 100).all, 0);
  EXPECT_DOUBLE_EQ(HostLoad::parse("cpu 1 2", 100).all, 0);
  EXPECT_GT(HostLoad::now().all, 0);
}

TEST(HostLoad, OthersAreNamedTheDemoItselfIsNot) {
  const HostLoad before{100, 50, 0};
  EXPECT_EQ(disturbance(before, {120, 60, 0}, 9), "");
  EXPECT_NE(disturbance(before, {120, 60, 0}, 1).find("used 45 %"), std::string::npos);
  EXPECT_NE(disturbance(before, {120, 60, 1}, 10).find("took 5 %"), std::string::npos);
  EXPECT_EQ(disturbance(before, before, 0), "");
}

}  // namespace
}  // namespace cardan::street
