// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>

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
  const RunResult r = evaluate({&area, 1});
  EXPECT_EQ(r.sent, 3U);  // frame 1 is discarded
  EXPECT_EQ(r.lost, 1U);
  EXPECT_EQ(r.torn, 1U);
  EXPECT_EQ(r.transport_us, (std::vector<double>{2, 5, 2, 4, 2}));
  EXPECT_EQ(r.end_to_end_us, (std::vector<double>{4, 8, 4, 8, 4}));
  EXPECT_EQ(r.spread_us, (std::vector<double>{3, 2}));
  EXPECT_EQ(r.handing_us, (std::vector<double>{0.5, 0.5, 0.5}));
  EXPECT_EQ(r.last_us, (std::vector<double>{5, 4}));
}

// A link that sent half as much counts half as much where a figure is a mean over messages.
TEST(Rows, EvaluationJoinsTheLinks) {
  const Cell cell{{1, 1}, 4096, 100, 4, 1};
  std::vector<Area> links;
  for (int i = 0; i < 2; ++i) links.emplace_back(Contender{kRaw, Wait::Block}, cell, "/t");
  for (std::uint32_t n = 1; n <= 4; ++n) {
    for (const Area& area : links) area.published(0)[n] = {n * 10'000, n * 10'000 + 1'000, 500};
    links[0].received(0, 0)[n] = {n * 10'000 + 3'000, n * 10'000 + 4'000, 0};
  }
  links[1].received(0, 0)[3] = {30'000 + 8'000, 30'000 + 9'000, 0};
  const auto fill_role = [&](std::size_t link, std::size_t role, std::int64_t cpu_ns, std::uint64_t messages) {
    RoleSlot& slot = links[link].role(role);
    slot.cpu_ns = cpu_ns;
    slot.wall_ns = 40'000'000;
    slot.messages = messages;
  };
  fill_role(0, 0, 6'000, 4);
  fill_role(1, 0, 6'000, 2);
  fill_role(0, 1, 8'000'000, 3);
  fill_role(1, 1, 12'000'000, 1);
  links[0].role(1).torn = 1;
  links[1].role(1).torn = 2;
  links[1].role(0).refused = 5;
  const RunResult r = evaluate(links);
  EXPECT_EQ(r.sent, 6U);
  EXPECT_EQ(r.lost, 2U);
  EXPECT_EQ(r.torn, 3U);
  EXPECT_EQ(r.refused, 5U);
  EXPECT_EQ(r.transport_us, (std::vector<double>{2, 2, 2, 7}));
  EXPECT_EQ(r.end_to_end_us, (std::vector<double>{4, 4, 4, 9}));
  EXPECT_EQ(r.handing_us.size(), 6U);
  EXPECT_DOUBLE_EQ(r.publisher_cpu_us, 12.0 / 6);
  EXPECT_DOUBLE_EQ(r.reader_cpu_us, 20'000.0 / 4);
  EXPECT_DOUBLE_EQ(r.reader_cpu_percent, 25);
  EXPECT_DOUBLE_EQ(r.achieved_rate_hz, 6 / 0.08);
}

TEST(Rows, MeasurementsOfLinksCountAllTheirProcesses) {
  TransportOptions o = two_contenders({1, 2, 4});
  o.cells[0].sensor = ShortName("cv");
  o.cells[0].conditions.cpu_percent = 100;
  Results results(o);
  RunResult run = run_of(10);
  run.achieved_rate_hz = 48.5;
  run.sent = 12;
  results.add(0, 0, {0, run, false});
  const auto all = results.measurements(1);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].cell, "4x1p2s cv cpu=100");
  EXPECT_EQ(all[0].publishers, 4U);
  EXPECT_EQ(all[0].readers, 8U);
  EXPECT_EQ(all[0].due, 24U) << "each publication is for the two readers of its link";
  EXPECT_NE(all[0].command.find("--scenarios 4x1p2s --sensors cv --conditions cpu=100"), std::string::npos);
  const auto rate =
      std::find_if(all.begin(), all.end(), [](const Measurement& m) { return m.quantity == kAchievedRate; });
  ASSERT_NE(rate, all.end());
  EXPECT_EQ(rate->unit, "Hz");
  EXPECT_TRUE(rate->more_is_better);
  EXPECT_EQ(rate->pooled(), std::vector<double>{48.5});
}

}  // namespace
}  // namespace cardan::bench
