// SPDX-License-Identifier: Apache-2.0
#include "demo/report/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cardan::street {
namespace {

TEST(Statistics, KnownValues) {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i) values.push_back(i);
  const Summary s = summarize(values);
  EXPECT_EQ(s.count, 100U);
  EXPECT_DOUBLE_EQ(s.min, 1);
  EXPECT_DOUBLE_EQ(s.max, 100);
  EXPECT_DOUBLE_EQ(s.mean, 50.5);
  EXPECT_DOUBLE_EQ(s.p50, 50.5);
  EXPECT_NEAR(s.p95, 95.05, 1e-9);
  EXPECT_NEAR(s.p99, 99.01, 1e-9);
  EXPECT_NEAR(s.std, 29.0115, 1e-3);
}

TEST(Statistics, IntervalsOfMedianAndMean) {
  std::vector<double> values;
  for (int i = 1; i <= 100; ++i) values.push_back(i);
  const Summary s = summarize(values);
  EXPECT_NEAR(s.p50_within, 9.8, 0.1) << "ranks 40 and 60";
  EXPECT_NEAR(s.mean_within, 1.96 * 29.0115 / 10, 1e-3);
  EXPECT_TRUE(std::isnan(summarize({1, 2, 3, 4, 5}).p50_within)) << "too few for one";
}

TEST(Statistics, OneValueHasNoSpread) {
  const Summary s = summarize({7});
  EXPECT_DOUBLE_EQ(s.p99, 7);
  EXPECT_DOUBLE_EQ(s.std, 0);
}

TEST(Statistics, NothingMeasuredIsNotZero) {
  const Summary s = summarize({});
  EXPECT_EQ(s.count, 0U);
  EXPECT_TRUE(std::isnan(s.mean));
  EXPECT_TRUE(std::isnan(s.p99));
}

}  // namespace
}  // namespace cardan::street
