// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/rows.hpp"

#include <gtest/gtest.h>

namespace cardan::bench {
namespace {

TransportOptions two_contenders(Scenario scenario) {
  TransportOptions o;
  o.contenders = {{kRaw, Wait::Block}, {kCardan, Wait::Block}};
  o.cells = {{scenario, 4096, 100, 20, 10}};
  return o;
}

RunResult run_of(double base) {
  RunResult r;
  r.transport_us = {base, base + 1, base + 2};
  r.end_to_end_us = {base + 10, base + 11, base + 12};
  r.spread_us = {0, 0, 0};
  r.last_us = r.transport_us;
  r.handing_us = {base / 2};
  r.sent = 3;
  r.lost = 1;
  return r;
}

TEST(Rows, PoolsTheRunsAndSumsTheCounts) {
  Results results(two_contenders({1, 1}));
  results.add(0, 0, {0, run_of(10), false});
  results.add(0, 0, {1, run_of(20), true});
  const auto rows = results.rows();
  ASSERT_EQ(rows.size(), 1U);  // no row for what was not measured
  EXPECT_EQ(rows[0].runs, 2U);
  EXPECT_EQ(rows[0].sent, 6U);
  EXPECT_EQ(rows[0].lost, 2U);
  EXPECT_TRUE(rows[0].stolen);
  EXPECT_EQ(rows[0].transport_us.pooled.count, 6U);
  EXPECT_DOUBLE_EQ(rows[0].transport_us.pooled.min, 10);
  EXPECT_DOUBLE_EQ(rows[0].transport_us.pooled.max, 22);
  ASSERT_TRUE(rows[0].transport_us.ci95.has_value());
  EXPECT_NEAR(rows[0].transport_us.ci95->first, 16 - 12.706 * 5, 1e-6);
  EXPECT_FALSE(rows[0].last_us.has_value());
  EXPECT_EQ(rows[0].transport_p50_by_run, (std::vector<double>{11, 21}));
}

TEST(Rows, RatioIsOfTheSameRunAndTheMedianOfThem) {
  Results results(two_contenders({1, 1}));
  for (std::uint32_t run = 0; run < 3; ++run) results.add(0, 0, {run, run_of(9), false});  // p50 = 10
  results.add(0, 1, {0, run_of(11), false});                                               // 12: 1.2
  results.add(0, 1, {1, run_of(14), false});                                               // 15: 1.5
  results.add(0, 1, {2, run_of(99), false});                                               // 100: 10
  results.add(0, 1, {7, run_of(999), false});  // a run that raw has not: no part of it
  const auto rows = results.rows();
  ASSERT_EQ(rows.size(), 2U);
  ASSERT_TRUE(rows[1].ratio_to_raw.has_value());
  EXPECT_DOUBLE_EQ(rows[1].ratio_to_raw->transport_p50, 1.5);
  EXPECT_DOUBLE_EQ(rows[1].ratio_to_raw->handing_beyond_us, 7 - 4.5);
  EXPECT_DOUBLE_EQ(rows[0].ratio_to_raw->transport_p50, 1.0);
}

TEST(Rows, WithoutRawThereIsNoRatio) {
  Results results(two_contenders({1, 1}));
  results.add(0, 1, {0, run_of(11), false});
  EXPECT_FALSE(results.rows().at(0).ratio_to_raw.has_value());
}

TEST(Rows, SeveralReadersHaveALastOne) {
  Results results(two_contenders({1, 5}));
  results.add(0, 0, {0, run_of(10), false});
  ASSERT_TRUE(results.rows().at(0).last_us.has_value());
  EXPECT_DOUBLE_EQ(results.rows().at(0).last_us->pooled.p50, 11);
}

TEST(Rows, EvaluationPairsTheStamps) {
  const Cell cell{{1, 2}, 4096, 100, 4, 1};
  const Area area({kRaw, Wait::Block}, cell, "/t");
  for (std::uint32_t n = 1; n <= 4; ++n) area.published(0)[n] = {n * 10'000, n * 10'000 + 1'000, 500};
  for (std::uint32_t n = 1; n <= 4; ++n) area.received(0, 0)[n] = {n * 10'000 + 3'000, n * 10'000 + 4'000, 0};
  area.received(1, 0)[2] = {20'000 + 6'000, 20'000 + 8'000, 0};
  area.received(1, 0)[3] = {30'000 + 5'000, 30'000 + 8'000, 0};  // frame 4 never reached the second reader
  area.role(2).torn = 1;
  const RunResult r = evaluate(area);
  EXPECT_EQ(r.sent, 3U);  // frame 1 is discarded
  EXPECT_EQ(r.lost, 1U);
  EXPECT_EQ(r.torn, 1U);
  EXPECT_EQ(r.transport_us, (std::vector<double>{2, 5, 2, 4, 2}));
  EXPECT_EQ(r.end_to_end_us, (std::vector<double>{4, 8, 4, 8, 4}));
  EXPECT_EQ(r.spread_us, (std::vector<double>{3, 2}));
  EXPECT_EQ(r.handing_us, (std::vector<double>{0.5, 0.5, 0.5}));
  EXPECT_EQ(r.last_us, (std::vector<double>{5, 4}));
}

}  // namespace
}  // namespace cardan::bench
