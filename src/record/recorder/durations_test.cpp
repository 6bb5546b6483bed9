// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/durations.hpp"

#include <gtest/gtest.h>

namespace cardan::record {
namespace {

TEST(Durations, APercentileIsNoMoreThanTheLongest) {
  // Whatever the place of a duration in its bucket.
  for (std::int64_t ns = 1'000'000; ns < 9'000'000; ns += 37'000) {
    Durations durations;
    durations.add(ns);
    const DurationReport report = durations.report();
    EXPECT_EQ(report.most, ns);
    EXPECT_LE(report.p50, ns);
    EXPECT_LE(report.p99, ns);
    EXPECT_GT(report.p50, ns / 2);
  }
}

}  // namespace
}  // namespace cardan::record
