// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/pipeline/messages.hpp"
#include "bench/transport/peers/peer.hpp"

namespace cardan::bench::perception {
namespace {

/// Stamps as the stages would leave them: each picture takes 1 ms to a finder, which works 10 ms; its result takes 2
/// ms, and the fusion works 0.5 ms. The detector lost frame 4, and its result of frame 5 was lost.
Graph graph_with_stamps() {
  LinkContenders contenders;
  contenders.fill({kRaw, Wait::Block});
  Graph graph =
      make_graph(camera_chain(), contenders, std::array{picture_bytes(64, 48), kResultBytes, kResultBytes}, 10, 6, 2);
  constexpr std::int64_t kMs = 1'000'000;
  for (std::size_t n = 1; n <= 6; ++n) {
    const std::int64_t sent = static_cast<std::int64_t>(n) * 100 * kMs;
    graph.link(Link::Pictures).published(0)[n] = {sent - kMs, sent, 0};
    for (const Stage finder : kFinders) {
      if (finder == Stage::Detector && n == 4) continue;
      const std::uint32_t place = place_of(finder);
      graph.link(Link::Pictures).received(place, 0)[n] = {sent + kMs, sent + 11 * kMs, 0};
      graph.link(Link::Results).published(place)[n] = {sent + 11 * kMs, sent + 11 * kMs, 0};
      if (finder == Stage::Detector && n == 5) continue;
      graph.link(Link::Results).received(0, place)[n] = {sent + 13 * kMs, sent + 13 * kMs, 0};
    }
    if (n != 4 && n != 5) stamps_of_end(graph.stages)[n] = {sent + 13 * kMs, sent + 13 * kMs + kMs / 2, 0};
  }
  return graph;
}

TEST(PipelineFigures, AreWhatTheStampsSay) {
  const PipelineRun run = evaluate_pipeline(graph_with_stamps());
  const StageFigures& lane = run.stages[role_of(Stage::Lane)];
  EXPECT_EQ(lane.due, 4U) << "two of six are discarded";
  EXPECT_EQ(lane.lost, 0U);
  ASSERT_EQ(lane.transport.size(), 4U);
  EXPECT_DOUBLE_EQ(lane.transport[0], 1);
  EXPECT_DOUBLE_EQ(lane.processing[0], 10);
  EXPECT_DOUBLE_EQ(lane.results[0], 2);
  EXPECT_DOUBLE_EQ(lane.ratio_percent(), 10);
  const StageFigures& detector = run.stages[role_of(Stage::Detector)];
  EXPECT_EQ(detector.lost, 1U);
  EXPECT_EQ(detector.results_lost, 1U);
  EXPECT_EQ(detector.transport.size(), 3U);
  const StageFigures& fusion = run.stages[role_of(Stage::Fusion)];
  EXPECT_EQ(fusion.due, 4U);
  EXPECT_EQ(fusion.lost, 2U);
  ASSERT_EQ(run.whole.size(), 2U);
  EXPECT_DOUBLE_EQ(run.whole[0], 13.5);
}

PipelineReport report_of(std::string_view peer, const std::string& camera) {
  const Contender contender{Peer{peer}, Wait::Block};
  Mix mix{.contender = contender};
  mix.links.fill(contender);
  PipelineReport report;
  report.inputs = {.width = 64, .height = 48, .camera = camera, .detector = "HOG", .link_bytes = {9288, 512, 512}};
  report.options.inputs.camera = camera;
  report.options.rate_hz = 10;
  report.options.frames = 6;
  report.options.runs = 1;
  report.rows.push_back({.mix = mix, .runs = {evaluate_pipeline(graph_with_stamps())}});
  return report;
}

TEST(PipelineReport, OnlyLossOfLinksByCardanCounts) {
  EXPECT_EQ(lost_by_cardan(report_of("raw", "drawn").rows.front(), camera_chain()), 0U);
  PipelineReport report = report_of("cardan", "drawn");
  EXPECT_EQ(lost_by_cardan(report.rows.front(), camera_chain()), 2U)
      << "a picture and a result; the fusion's loss follows from them";
  report.rows.front().mix.links[0] = {kRaw, Wait::Block};
  EXPECT_EQ(lost_by_cardan(report.rows.front(), camera_chain()), 1U);
}

TEST(PipelineReport, HasAMeasurementForEachQuantityOfAStage) {
  const std::vector<Measurement> all = measurements_of(report_of("cardan", "drawn"));
  std::set<std::vector<std::string>> identities;
  for (const Measurement& m : all) {
    EXPECT_TRUE(identities.insert({m.peer, m.setup, m.cell, m.quantity}).second) << m.cell << m.quantity;
    EXPECT_EQ(m.command,
              "cardan bench pipeline --peers cardan --waits block --camera drawn --rate 10 --frames 6 --runs 1");
  }
  const auto find = [&](std::string_view cell, std::string_view quantity) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Measurement& m) { return m.cell == cell && m.quantity == quantity; });
    EXPECT_NE(found, all.end()) << cell << quantity;
    return found == all.end() ? Measurement{} : *found;
  };
  EXPECT_EQ(find("detector", "transport").lost, 1U);
  EXPECT_EQ(find("detector", "transport").due, 4U);
  EXPECT_EQ(find("whole", "camera to fusion").lost, 2U);
  EXPECT_EQ(find("lane", "transport / processing").pooled(), std::vector<double>{10});
  EXPECT_FALSE(find("lane", "processing").due);
}

TEST(PipelineReport, APathThatACommandCannotHaveLeavesItOut) {
  for (const Measurement& m : measurements_of(report_of("cardan", "my drive;x.mp4"))) EXPECT_EQ(m.command, "");
}

TEST(PipelineReport, TheTableHasEachStageAndWhatWasLeftOut) {
  PipelineReport report = report_of("cardan", "drawn");
  report.left_out.emplace_back("something is left out");
  const std::string table = to_table(report);
  for (const std::string_view stage : camera_chain().stages)
    EXPECT_NE(table.find(fmt::format("\n  {}", stage)), std::string::npos);
  EXPECT_NE(table.find("camera to fusion: p50 13.5"), std::string::npos) << table;
  EXPECT_NE(table.find("something is left out"), std::string::npos);
  EXPECT_NE(table.find("the camera reached 0.00 Hz"), std::string::npos) << "these stamps come from no camera";
  report.rows.front().runs.front().achieved_rate_hz = 10;
  EXPECT_EQ(to_table(report).find("the camera reached"), std::string::npos);
  const auto json = to_json(report);
  EXPECT_EQ(json["rows"][0]["stages"][2]["lost"], 1);
  EXPECT_EQ(json["rows"][0]["stages"][2]["transport_to_processing_percent"], 10);
  EXPECT_EQ(json["rows"][0]["camera_to_fusion_ms"]["p50"], 13.5);
}

}  // namespace
}  // namespace cardan::bench::perception
