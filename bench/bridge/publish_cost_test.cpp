// SPDX-License-Identifier: Apache-2.0
#include "bench/bridge/publish_cost.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cardan::bench::bridging {
namespace {

/// 100 publications of 10 µs, of which `slow` took `us`.
std::vector<double> publications(std::size_t slow, double us) {
  std::vector<double> all(100, 10.0);
  for (std::size_t i = 0; i < slow; ++i) all[i] = us;
  return all;
}

double value(const Row& row, const char* name) {
  const Figure* const figure = row.find(name);
  return figure == nullptr ? -1 : figure->median();
}

TEST(PublishCost, TheRatioIsThatOfAllRoundsTogether) {
  Row row{.name = "publish", .title = "t"};
  add_publish_round(row, publications(2, 20), publications(0, 0), 3);
  add_publish_round(row, publications(2, 20), publications(4, 50), 3);
  EXPECT_EQ(row.find("publish p99 with")->runs.size(), 2U);
  EXPECT_EQ(row.find("publish p99 with")->runs.at(0), 10);
  EXPECT_EQ(row.find("publish p99 with")->runs.at(1), 50);
  ASSERT_EQ(row.find("p99 with / without")->runs.size(), 1U);
  EXPECT_NEAR(value(row, "p99 with / without"), 2.5, 0.01);
  EXPECT_NEAR(value(row, "p50 with / without"), 1, 0.01);
  EXPECT_EQ(value(row, "bridges"), 3);
}

TEST(PublishCost, ACostAboveTheTargetIsReported) {
  Row dear{.name = "publish", .title = "t"}, cheap{.name = "publish-small", .title = "t"};
  add_publish_round(dear, publications(5, 20), publications(5, 25), 3);
  add_publish_round(cheap, publications(5, 20), publications(5, 23), 3);
  EXPECT_EQ(dear.find("p99 with / without")->reached(), false);
  EXPECT_EQ(cheap.find("p99 with / without")->reached(), true);
  EXPECT_EQ(dear.find("p50 with / without")->reached(), std::nullopt);
  Report report;
  report.rows = {dear};
  const auto json = to_json(report);
  EXPECT_NE(json.dump().find("p99 with / without"), std::string::npos);
}

TEST(PublishCost, ARoundWithoutPublicationsHasNoRatio) {
  Row row{.name = "publish", .title = "t"};
  add_publish_round(row, {}, {}, 1);
  EXPECT_EQ(row.find("p99 with / without"), nullptr);
}

TEST(PublishCost, TheTitleNamesTheBridges) {
  EXPECT_EQ(publish_title("4 KiB at 100 Hz", {"dds", "foxglove"}, {"zenoh"}),
            "publish() of 4 KiB at 100 Hz with one subscriber, without bridges and with 2 bridges: dds, foxglove (left "
            "out: zenoh)");
  EXPECT_EQ(publish_title("4 KiB at 100 Hz", {"foxglove"}, {}),
            "publish() of 4 KiB at 100 Hz with one subscriber, without bridges and with 1 bridge: foxglove");
}

}  // namespace
}  // namespace cardan::bench::bridging
