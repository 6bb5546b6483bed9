// SPDX-License-Identifier: Apache-2.0
#include "bench/results/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cardan::bench {
namespace {

TEST(Statistics, SummaryOfKnownNumbers) {
  std::vector<double> samples;
  for (int i = 100; i >= 1; --i) samples.push_back(i);  // unsorted on purpose
  const Summary s = summarize(samples);
  EXPECT_EQ(s.count, 100U);
  EXPECT_DOUBLE_EQ(s.min, 1);
  EXPECT_DOUBLE_EQ(s.max, 100);
  EXPECT_DOUBLE_EQ(s.mean, 50.5);
  EXPECT_DOUBLE_EQ(s.p50, 50.5);  // numpy.percentile(range(1, 101), [50, 95, 99])
  EXPECT_DOUBLE_EQ(s.p95, 95.05);
  EXPECT_DOUBLE_EQ(s.p99, 99.01);
  EXPECT_NEAR(s.std, 29.011491975882016, 1e-9);
}

TEST(Statistics, FewSamples) {
  EXPECT_EQ(summarize({}).count, 0U);
  const Summary one = summarize({7});
  EXPECT_DOUBLE_EQ(one.p50, 7);
  EXPECT_DOUBLE_EQ(one.p99, 7);
  EXPECT_DOUBLE_EQ(one.std, 0);
}

TEST(Statistics, DeviationDoesNotCancelOnALargeMean) {
  EXPECT_NEAR(summarize({1e12 + 1, 1e12 + 2, 1e12 + 3}).std, 1.0, 1e-6);
}

TEST(Statistics, Median) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_DOUBLE_EQ(median({}), 0);
}

TEST(Statistics, StudentQuantiles) {
  EXPECT_NEAR(student_t95(1), 12.706, 1e-3);
  EXPECT_NEAR(student_t95(4), 2.776, 1e-3);
  EXPECT_NEAR(student_t95(30), 2.042, 1e-3);
  EXPECT_NEAR(student_t95(31), 2.0395, 1e-3);
  EXPECT_NEAR(student_t95(60), 2.0003, 1e-3);
  EXPECT_NEAR(student_t95(1'000'000), 1.96, 1e-3);
}

TEST(Statistics, ConfidenceOfTheMean) {
  EXPECT_FALSE(confidence95(std::vector<double>{}).has_value());
  EXPECT_FALSE(confidence95(std::vector<double>{5}).has_value());
  const auto ci = confidence95(std::vector<double>{1, 2, 3, 4, 5});
  ASSERT_TRUE(ci.has_value());
  const double half = 2.776 * std::sqrt(2.5) / std::sqrt(5.0);
  EXPECT_NEAR(ci->first, 3 - half, 1e-9);
  EXPECT_NEAR(ci->second, 3 + half, 1e-9);
}

}  // namespace
}  // namespace cardan::bench
