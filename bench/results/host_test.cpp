// SPDX-License-Identifier: Apache-2.0
#include "bench/results/host.hpp"

#include <gtest/gtest.h>

namespace cardan::bench {
namespace {

TEST(Host, StealOfTwoReadings) {
  const auto from = parse_cpu_ticks("cpu  100 0 50 800 10 0 30 10 5 0");
  EXPECT_EQ(from.total, 1000U);
  EXPECT_EQ(from.steal, 10U);
  const auto to = parse_cpu_ticks("cpu  150 0 60 920 10 0 30 30 5 0");
  EXPECT_NEAR(steal_percent(from, to), 10.0, 1e-9);
  EXPECT_DOUBLE_EQ(steal_percent(to, from), 0);
  EXPECT_DOUBLE_EQ(steal_percent(from, from), 0);
}

TEST(Host, LoadOfOthers) {
  const auto from = parse_cpu_ticks("cpu  100 0 50 800 10 0 30 10 5 0");
  const auto to = parse_cpu_ticks("cpu  140 0 60 840 10 0 30 20 5 0");  // 100 ticks: 50 busy, 40 idle, 10 stolen
  EXPECT_NEAR(other_load_percent(from, to, 30), 20.0, 1e-9);
  EXPECT_DOUBLE_EQ(other_load_percent(from, to, 60), 0);  // ticks are coarse: never below nothing
  EXPECT_DOUBLE_EQ(other_load_percent(from, from, 0), 0);
}

TEST(Host, OldKernelsSayLess) {
  EXPECT_EQ(parse_cpu_ticks("cpu 1 2 3 4").total, 10U);
  EXPECT_EQ(parse_cpu_ticks("").total, 0U);
}

TEST(Host, DescribesThisComputer) {
  const Host host = describe_host();
  EXPECT_FALSE(host.cardan.empty());
  EXPECT_FALSE(host.kernel.empty());
  EXPECT_FALSE(host.cpu.empty());
  EXPECT_FALSE(host.governor.empty());
  EXPECT_GT(host.cpus, 0);
  EXPECT_GT(host.memory_gib, 0);
  EXPECT_FALSE(allowed_cpus().empty());
}

}  // namespace
}  // namespace cardan::bench
