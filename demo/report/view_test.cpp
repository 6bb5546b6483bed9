// SPDX-License-Identifier: Apache-2.0
#include "demo/report/view.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace cardan::street {
namespace {

Moment moment() {
  Moment m;
  m.seconds = 7;
  m.of_seconds = 15;
  m.measuring = true;
  for (auto& hop : m.hops) hop = {10.0, 13.3, 4, summarize({5.25, 6, 70})};
  m.cpu = {{"camera", 4}, {"lidar", 6}, {"detector", 80}, {"obstacles", 3}, {"decision", 0}};
  m.decision_us = summarize({40'000, 50'000});
  m.decisions = 2;
  m.has_decision = true;
  m.brake = true;
  m.reason = "pedestrian 8.0 m ahead in the path (LiDAR)";
  return m;
}

TEST(View, ShowsRatesLatenciesLossCpuAndTheDecision) {
  const std::string text = render(moment(), {"street.avi", "simulated street", true}, 200, false);
  for (const char* part :
       {"Cardan, five processes", "7 s of 15 s", "street.avi", "/street/lidar/points", "lidar (simulated) → obstacles",
        "10.0", "13.3", "6.0", "detector 80 %", "p50 45.0 ms", "BRAKE pedestrian 8.0 m"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(View, FitsTheTerminalAndSurvivesNothing) {
  std::istringstream lines(render(Moment{}, {}, 40, false));
  for (std::string line; std::getline(lines, line);) {
    std::size_t columns = 0;
    for (const char c : line) columns += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1U : 0U;
    EXPECT_LE(columns, 40U) << line;
  }
  EXPECT_EQ(render_line(Moment{}, {}).find("nan"), std::string::npos);
  EXPECT_EQ(render(Moment{}, {}, 200, false).find("nan"), std::string::npos);
}

TEST(View, MissedMessagesAreSeenAtEightyColumns) {
  Moment now = moment();
  now.hops[0].missed = 4711;
  const std::string text = render(now, {"street.avi", "simulated street", true}, 80, false);
  std::istringstream lines(text);
  std::string line;
  int seen = 0;
  while (std::getline(lines, line)) seen += line.ends_with(" missed") || line.ends_with(" 4711") ? 1 : 0;
  EXPECT_EQ(seen, 2) << text;
}

TEST(View, OneLineForLogs) {
  const std::string line = render_line(moment(), {"street.avi", "simulated street", true});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_NE(line.find("lidar (simulated) 10 Hz"), std::string::npos) << line;
}

}  // namespace
}  // namespace cardan::street
