// SPDX-License-Identifier: Apache-2.0
#include "bench/results/bootstrap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "bench/results/statistics.hpp"
#include "bench/results/synthetic.hpp"

namespace cardan::bench {
namespace {

TEST(Bootstrap, TheIntervalOfTheMedianHoldsTheTruth) {
  int held = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto interval = median_interval95(synthetic({.seed = seed}));
    ASSERT_TRUE(interval.has_value());
    EXPECT_LT(interval->first, interval->second);
    if (interval->first <= 100 && 100 <= interval->second) ++held;
  }
  EXPECT_GE(held, 180) << "of 200";  // 95 % of 200 are 190, with a deviation of 3
}

TEST(Bootstrap, RunsThatDifferMakeItWider) {
  const auto alike = median_interval95(synthetic({}));
  const auto different = median_interval95(synthetic({.run_spread = 0.3}));
  ASSERT_TRUE(alike && different);
  EXPECT_GT(different->second - different->first, 2 * (alike->second - alike->first));
}

TEST(Bootstrap, FewOrNoSamplesGiveNoInterval) {
  EXPECT_FALSE(median_interval95(Measurement{}).has_value());
  EXPECT_FALSE(median_interval95(synthetic({.runs = 1, .samples = 4})).has_value());
  EXPECT_TRUE(bootstrap_quantile({}, 0.5, 1).empty());
  EXPECT_TRUE(bootstrap_quantile({MeasuredRun{}}, 0.5, 1).empty());
  EXPECT_EQ(bootstrap_quantile({make_run({7})}, 0.5, 1, 3), (std::vector<double>{7, 7, 7}));
}

TEST(Bootstrap, TheSameSeedGivesTheSame) {
  const Measurement m = synthetic({});
  EXPECT_EQ(bootstrap_quantile(m.runs, 0.99, 4), bootstrap_quantile(m.runs, 0.99, 4));
  EXPECT_NE(bootstrap_quantile(m.runs, 0.99, 4), bootstrap_quantile(m.runs, 0.99, 5));
}

TEST(Bootstrap, ManySamplesAreDrawnFewerTimes) {
  Measurement m;
  for (int run = 0; run < 1000; ++run) m.runs.push_back(make_run(std::vector<double>(kMostSamplesOfRun, 1.0)));
  EXPECT_EQ(bootstrap_quantile(m.runs, 0.5, 1).size(), 200U);
}

TEST(Bootstrap, NormalQuantiles) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959964, 1e-6);
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-9);
  EXPECT_NEAR(normal_quantile(1 - 1e-6), 4.753424, 1e-5);
}

TEST(Thinning, KeepsMediansTailsAndEnds) {
  std::vector<double> samples;
  for (int i = 100'000; i >= 1; --i) samples.push_back(i);
  const MeasuredRun run = make_run(samples);
  EXPECT_EQ(run.count, 100'000U);
  ASSERT_EQ(run.samples.size(), kMostSamplesOfRun);
  EXPECT_EQ(run.samples.front(), 1);
  EXPECT_EQ(run.samples.back(), 100'000);
  EXPECT_NEAR(percentile(run.samples, 0.5), 50'000, 100);
  EXPECT_NEAR(percentile(run.samples, 0.99), 99'000, 100);
  EXPECT_EQ(make_run({3, 1, 2}).samples, (std::vector<double>{3, 1, 2})) << "as taken";
}

}  // namespace
}  // namespace cardan::bench
