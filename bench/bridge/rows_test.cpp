// SPDX-License-Identifier: Apache-2.0
#include "bench/bridge/rows.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cardan::bench::bridging {
namespace {

TEST(BridgeRows, AFigureIsTheMedianOfItsRuns) {
  Row row{.name = "dds-out", .title = "t"};
  for (const double value : {7.0, 3.0, 5.0}) row.add("bridge", "% of a core", value, Target{.limit = 6});
  ASSERT_NE(row.find("bridge"), nullptr);
  EXPECT_EQ(row.find("bridge")->median(), 5);
  EXPECT_EQ(row.find("bridge")->reached(), true);
  EXPECT_EQ(row.find("arrived"), nullptr);
}

TEST(BridgeRows, MissedTargetsAreReportedInTableAndJson) {
  Row row{.name = "dds-out", .title = "t"};
  row.add("arrived", "%", 99, Target{.at_most = false, .limit = 100});
  row.add("latency p50", "ms", 4);
  Report report;
  report.rows = {row};
  report.left_out = {"no Zenoh"};
  const std::string table = to_table(report);
  EXPECT_NE(table.find("wanted ≥ 100: MISSED"), std::string::npos) << table;
  EXPECT_NE(table.find("no Zenoh"), std::string::npos) << table;
  const auto json = to_json(report);
  const auto& figures = json.at("rows").at(0).at("figures");
  EXPECT_EQ(figures.at(0).at("reached"), false);
  EXPECT_EQ(figures.at(0).at("wanted").at("at_least"), 100);
  EXPECT_FALSE(figures.at(1).contains("wanted"));
  EXPECT_EQ(figures.at(1).at("runs").size(), 1U);
}

}  // namespace
}  // namespace cardan::bench::bridging
