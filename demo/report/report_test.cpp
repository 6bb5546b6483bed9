// SPDX-License-Identifier: Apache-2.0
#include "demo/report/report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "demo/report/columns.hpp"

namespace cardan::street {
namespace {

Figures figures(double scale) {
  Figures f;
  for (std::size_t i = 0; i < 3; ++i) f.hops[i] = {10, i, 30'000'000, summarize({scale, 2 * scale, 3 * scale})};
  f.hops[3].transport_us = summarize({});
  f.decision_us = summarize({50'000, 60'000});
  f.carried_us = summarize({40 * scale});
  f.worked_us = summarize({});
  f.decisions = 2;
  f.ages["camera"] = {{81, 3}};  // that of 100 ms
  return f;
}

TEST(Report, JsonHasExactlyTheFormThatOthersRead) {
  const Inputs inputs{"street.avi", "simulated street", true};
  const auto parsed =
      nlohmann::json::parse(json({{Setup::FiveProcesses, figures(1)}, {Setup::UnixSockets, figures(10)}}, inputs));
  ASSERT_EQ(parsed.size(), 9U);
  EXPECT_EQ(parsed.at("setup"), "five_processes");
  EXPECT_EQ(parsed.at("inputs"), (nlohmann::json{{"camera", "street.avi"}, {"lidar", "simulated street"}}));
  const auto& hops = parsed.at("hops");
  ASSERT_EQ(hops.size(), kHops);
  EXPECT_EQ(hops[0].size(), 6U);
  EXPECT_EQ(hops[0].at("topic"), "/street/camera/image");
  EXPECT_EQ(hops[0].at("from"), "camera");
  EXPECT_EQ(hops[0].at("to"), "detector");
  EXPECT_EQ(hops[1].at("from"), "lidar (simulated)");
  EXPECT_EQ(hops[2].at("received"), 10);
  EXPECT_EQ(hops[2].at("missed"), 2);
  const auto& transport = hops[0].at("transport_us");
  EXPECT_EQ(transport.size(), 9U);
  for (const char* key : {"min", "mean", "p50", "p95", "p99", "max", "std"})
    EXPECT_TRUE(transport.at(key).is_number()) << key;
  EXPECT_TRUE(hops[3].at("transport_us").at("p50").is_null()) << "nothing measured is not 0";
  EXPECT_EQ(parsed.at("decisions"), 2);
  EXPECT_EQ(parsed.at("decision_us").at("mean"), 55'000);
  EXPECT_EQ(parsed.at("carried_us").at("mean"), 40);
  EXPECT_TRUE(transport.at("p50_within").is_null()) << "three values give no interval";
  EXPECT_NEAR(parsed.at("ages_us").at("camera").at("p50").get<double>(), 100'000, 25'000);
  EXPECT_FALSE(parsed.at("ages_us").contains("lidar")) << "nothing measured is not 0";
  EXPECT_EQ(parsed.at("unix_socket").size(), 6U);
  EXPECT_EQ(parsed.at("unix_socket").at("hops")[0].at("transport_us").at("p50"), 20);
}

TEST(Report, WithoutASecondRunThereIsNone) {
  const auto parsed = nlohmann::json::parse(json({{Setup::OneProcess, figures(1)}}, {}));
  EXPECT_FALSE(parsed.contains("unix_socket"));
  EXPECT_FALSE(parsed.contains("crash"));
}

TEST(Report, EventsThatDidNotFollowACrashAreNull) {
  Crash crash{.component = "detector",
              .process = "detector",
              .cause = "was killed",
              .noticed_ms = 1.5,
              .lost = 3,
              .alone = true};
  auto parsed = nlohmann::json::parse(json({{Setup::FiveProcesses, figures(1)}}, {}, crash)).at("crash");
  EXPECT_EQ(parsed.at("noticed_ms"), 1.5);
  EXPECT_TRUE(parsed.at("running_again_ms").is_null());
  EXPECT_EQ(parsed.at("lost_between_others"), 3);
  EXPECT_NE(text(crash).find("state: degraded: did not happen"), std::string::npos) << text(crash);
  crash.alone = false;
  parsed = nlohmann::json::parse(json({{Setup::FiveProcesses, figures(1)}}, {}, crash)).at("crash");
  EXPECT_TRUE(parsed.at("lost_between_others").is_null()) << "there were no others";
}

TEST(Report, TablesSaySimulatedAndSkipWhatWasNotMeasured) {
  const Inputs inputs{"street.avi", "simulated street", true};
  const std::string text = table(Setup::FiveProcesses, figures(1), inputs, 100);
  EXPECT_NE(text.find("lidar (simulated) → obstacles"), std::string::npos);
  EXPECT_NE(text.find("perception to decision"), std::string::npos);
  EXPECT_EQ(text.find("nan"), std::string::npos);
  const std::string both = comparison(
      {{Setup::FiveProcesses, figures(1)}, {Setup::OneProcess, figures(2)}, {Setup::UnixSockets, figures(10)}}, inputs,
      100);
  EXPECT_NE(both.find(" 10.0 x"), std::string::npos) << both;
  EXPECT_EQ(both.find("nan"), std::string::npos);
}

/// As long as figures get.
Figures long_figures() {
  Figures f;
  for (auto& hop : f.hops) hop = {123'456, 12'345, 123'456ULL * 6'220'800, summarize({123'456, 234'567, 345'678})};
  f.decision_us = summarize({123'456'000, 234'567'000});
  f.carried_us = f.worked_us =
      summarize({123'456'000, 123'456'000, 123'456'000, 234'567'000, 234'567'000, 234'567'000});
  f.decisions = 123'456;
  return f;
}

TEST(Report, TablesFitTheirRoomAndKeepWhatMatters) {
  const Inputs inputs{"street.avi", "simulated street", true};
  const std::vector<Measured> all = {{Setup::FiveProcesses, long_figures()},
                                     {Setup::WithoutPriorities, long_figures()},
                                     {Setup::OneProcess, long_figures()},
                                     {Setup::UnixSockets, long_figures()}};
  for (const std::size_t width : {80U, 100U, 120U}) {
    const std::string text =
        table(Setup::WithoutPriorities, long_figures(), inputs, width) + comparison(all, inputs, width);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(columns_of(line), width) << text;
    for (const char* kept : {"p50", "p99", "missed", "five processes", "no priorities", "Unix sockets"})
      EXPECT_NE(text.find(kept), std::string::npos) << kept << " at " << width << "\n" << text;
  }
  const std::string wide = comparison(all, inputs, 200);
  EXPECT_NE(wide.find("last / first"), std::string::npos);
  EXPECT_NE(wide.find("99th percentile"), std::string::npos) << wide;
  EXPECT_NE(wide.find("179M ±48697k"), std::string::npos) << wide;
  EXPECT_LE(std::count(wide.begin(), wide.end(), '\n'), 20) << wide;
  EXPECT_NE(wide.find("one process"), std::string::npos);
  EXPECT_EQ(comparison(all, inputs, 80).find("one process"), std::string::npos);
}

TEST(Report, TheSetupWithoutPrioritiesHasAKeyOfItsOwn) {
  const auto parsed =
      nlohmann::json::parse(json({{Setup::FiveProcesses, figures(1)}, {Setup::WithoutPriorities, figures(3)}}, {}));
  EXPECT_EQ(parsed.at("without_priorities").at("hops")[0].at("transport_us").at("p50"), 6);
}

}  // namespace
}  // namespace cardan::street
