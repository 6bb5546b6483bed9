// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/pipeline/report.hpp"
#include "bench/transport/peers/peer.hpp"

namespace cardan::bench::perception::lidar {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// Each link takes `link_ms`, each stage 10 ms. The perception lost scan 4; the localization was late in scan 6.
Graph lidar_graph(std::string_view peer, std::int64_t link_ms) {
  LinkContenders contenders;
  contenders.fill({Peer{peer}, Wait::Block});
  const std::size_t links = lidar_chain().links.size();
  const std::vector<std::size_t> bytes(links, 4096);
  Graph graph = make_graph(lidar_chain(), contenders, bytes, 10, 6, 2);
  for (std::size_t n = 1; n <= 6; ++n) {
    std::int64_t sent = static_cast<std::int64_t>(n) * 100 * kMs;
    for (std::size_t i = 0; i < links; ++i) {
      graph.links[i].published(0)[n] = {sent - kMs, sent, 0};
      if (i == 2 && n == 4) break;
      const std::int64_t taken = sent + link_ms * kMs;
      sent = taken + 10 * kMs + (i == 1 && n == 6 ? 60 * kMs : 0);
      graph.links[i].received(0, 0)[n] = {taken, sent, 0};
      if (i + 1 == links) stamps_of_end(graph.stages)[n] = {taken, sent, 0};
    }
  }
  return graph;
}

TEST(LidarFigures, AreWhatTheStampsSay) {
  const PipelineRun run = evaluate_pipeline(lidar_graph("raw", 1));
  const StageFigures& perception = run.stages[role_of(Stage::Perception)];
  EXPECT_EQ(perception.due, 4U) << "two of six are discarded";
  EXPECT_EQ(perception.lost, 1U);
  EXPECT_EQ(run.stages[role_of(Stage::Decision)].due, 3U) << "the scan that the perception lost is lost once";
  EXPECT_EQ(run.stages[role_of(Stage::Decision)].lost, 0U);
  ASSERT_EQ(perception.transport.size(), 3U);
  EXPECT_DOUBLE_EQ(perception.transport[0], 1);
  EXPECT_DOUBLE_EQ(perception.processing[0], 10);
  EXPECT_DOUBLE_EQ(perception.latency[0], 11);
  EXPECT_DOUBLE_EQ(perception.ratio_percent(), 10);
  EXPECT_EQ(run.frames_due, 4U);
  EXPECT_EQ(run.frames_lost, 1U);
  ASSERT_EQ(run.whole.size(), 3U);
  EXPECT_DOUBLE_EQ(run.whole[0], 55);
  EXPECT_DOUBLE_EQ(run.whole[2], 115);
  EXPECT_DOUBLE_EQ(run.ndt_hz, 3 / 0.360) << "four poses, of which the last is 60 ms late";
}

// The figures of SIM (IV-F): 231.65 ms are 13.6 ft (4.14 m) at 40 mph and 23.8 ft (7.3 m) at 70 mph.
TEST(BrakingDistance, IsThatOfThePaper) {
  EXPECT_NEAR(braking_distance(40, 231.65), 4.14, 0.005);
  EXPECT_NEAR(braking_distance(40, 231.65) / 0.3048, 13.6, 0.05);
  EXPECT_NEAR(braking_distance(70, 231.65), 7.3, 0.06);
  EXPECT_NEAR(braking_distance(70, 231.65) / 0.3048, 23.8, 0.05);
  EXPECT_NEAR(braking_distance(40, 100), 1.79, 0.005) << "the paper's introduction";
  EXPECT_EQ(braking_distance(70, 0), 0);
}

TEST(LidarReport, ComparesWithTheSlowestAndCountsLossOnce) {
  PipelineReport report;
  report.options.chain = &lidar_chain();
  report.options.rate_hz = 10;
  report.inputs = {.lidar = "simulated street", .points = 1000, .filtered = 100, .link_bytes = {4096}};
  for (const auto& [peer, ms] : {std::pair{"cardan", 1}, {"tcp", 21}}) {
    const Contender contender{Peer{peer}, Wait::Block};
    Mix mix{.contender = contender};
    mix.links.fill(contender);
    report.rows.push_back({.mix = mix, .runs = {evaluate_pipeline(lidar_graph("raw", ms))}});
  }
  EXPECT_EQ(lost_by_cardan(report.rows[0], lidar_chain()), 1U);
  EXPECT_EQ(lost_by_cardan(report.rows[1], lidar_chain()), 0U);
  const auto json = to_json(report);
  const auto& saved = json["rows"][0]["braking_distance_saved_m"];
  EXPECT_EQ(saved["compared_with"], "tcp block");
  EXPECT_EQ(saved["mean_ms"], 100) << "five links of 20 ms";
  EXPECT_NEAR(saved["40_mph"].get<double>(), 1.788, 0.001);
  EXPECT_NEAR(saved["70_mph"].get<double>(), 3.129, 0.001);
  EXPECT_FALSE(json["rows"][1].contains("braking_distance_saved_m"));
  EXPECT_EQ(json["rows"][0]["chain"], "lidar");
  EXPECT_EQ(json["rows"][0]["stages"][3]["latency_ms"]["p50"], 11);
  EXPECT_TRUE(json["rows"][0].contains("perception_to_decision_ms"));
  const std::string table = to_table(report);
  EXPECT_NE(table.find("before tcp block: 1.79 m at 40 mph, 3.13 m at 70 mph"), std::string::npos) << table;
  EXPECT_NE(table.find("brakes 100 ± "), std::string::npos) << table;
  EXPECT_EQ(table.find("within the noise"), std::string::npos) << "three wholes of 55, 55 and 115 ms, and 100 more";
  EXPECT_NEAR(saved["ci95_ms"].get<double>(), 1.96 * std::sqrt(2 * 60.0 * 60.0 / 3 / 3), 0.1);
  EXPECT_NE(table.find("NDT gave 8.33 Hz, 0 % of them matched"), std::string::npos) << table;
}

}  // namespace
}  // namespace cardan::bench::perception::lidar
