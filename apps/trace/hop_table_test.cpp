// SPDX-License-Identifier: Apache-2.0
#include "apps/trace/hop_table.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cardan::apps {
namespace {

TEST(HopTable, TheTableNamesTheSlowHop) {
  trace::TracedChain chain{.ways = {{.hops = {{"callback 1", "/objects"}, {"callback 2", "/command"}}, .frames = {}}}};
  for (std::uint64_t n = 1; n <= 20; ++n)
    chain.ways[0].frames.push_back({.sequence = n,
                                    .time_ns = static_cast<std::int64_t>(n) * 100'000,
                                    .hops = {{.transport = 10, .waiting = n == 13 ? 50'000 : 10, .running = 100},
                                             {.transport = 3, .waiting = 2, .running = 30, .sequence = n + 2}},
                                    .first_sequence = n + 1,
                                    .first_ns = static_cast<std::int64_t>(n) * 100'000 - 1'000});
  const Meanwhile busy = [](const trace::HopTimes& hop, const std::string& by) {
    return std::vector<trace::RanCallback>{{.name = "not " + by, .ns = hop.waiting}};
  };
  const auto found = nlohmann::json::parse(hops_json(chain, "/camera", "/command", busy));
  const auto& way = found.at("ways").at(0);
  EXPECT_EQ(way.at("frames"), 20);
  EXPECT_EQ(way.at("slowest").size(), 10U);
  EXPECT_EQ(way.at("slowest").at(0).at("sequence"), 13);
  EXPECT_EQ(way.at("slowest").at(0).at("slowest_hop"), 0);
  EXPECT_EQ(way.at("slowest").at(0).at("meanwhile").at(0).at("callback"), "not callback 1");
  EXPECT_EQ(way.at("slowest").at(0).at("meanwhile").at(0).at("us"), 50);
  EXPECT_FALSE(way.contains("each_frame"));
  const auto each = nlohmann::json::parse(hops_json(chain, "/camera", "/command", busy, true)).at("ways").at(0);
  const auto& frame = each.at("each_frame").at(12);
  EXPECT_EQ(frame.at("sequence"), 13);
  EXPECT_EQ(frame.at("from_sequence"), 14);
  EXPECT_EQ(frame.at("from_ns"), 1'299'000);
  EXPECT_EQ(frame.at("hops").at(1).at("sequence"), 15);
  EXPECT_EQ(frame.at("hops").at(0).at("waiting_us"), 50);
  double sum = 0;
  for (const auto& hop : way.at("hops")) sum += hop.at("all_us").at("mean").get<double>();
  EXPECT_NEAR(sum, way.at("all_us").at("mean").get<double>(), 1e-9) << "means add up";
  const std::string text = hop_tables(chain, "/camera", "/command", busy);
  EXPECT_NE(text.find("20 frames"), std::string::npos) << text;
  EXPECT_NE(text.find("callback 1"), std::string::npos) << text;
  EXPECT_EQ(text.find("These "), std::string::npos) << "there is one way\n" << text;
}

TEST(HopTable, OfSeveralWaysItShowsThemAllAndReportsTheRest) {
  const trace::TracedFrame quick{.sequence = 1, .hops = {{.transport = 0, .waiting = 0, .running = 100'000}}};
  const trace::TracedFrame slow{.sequence = 2, .hops = {{.transport = 0, .waiting = 0, .running = 300'000}}};
  const trace::TracedChain chain{.ways = {{.hops = {{"callback 1", "/command"}}, .frames = {quick, quick, quick}},
                                          {.hops = {{"callback 2", "/command"}}, .frames = {slow}}},
                                 .from_others = 5,
                                 .incomplete = 6,
                                 .more_ways = 7,
                                 .disputed = 8};
  const Meanwhile idle = [](const trace::HopTimes&, const std::string&) { return std::vector<trace::RanCallback>{}; };
  const auto found = nlohmann::json::parse(hops_json(chain, "/camera", "/command", idle));
  EXPECT_EQ(found.at("ways").size(), 2U);
  EXPECT_EQ(found.at("all_us").at("mean"), 150);
  EXPECT_EQ(found.at("all_us").at("p99"), 300);
  EXPECT_EQ(found.at("more_ways"), 7);
  EXPECT_EQ(found.at("disputed"), 8);
  const std::string text = hop_tables(chain, "/camera", "/command", idle);
  for (const char* part : {"These 2 ways: 4 frames", "/camera: 5 publications", "Not traced on the whole way: 6",
                           "On further ways than these 2: 7 publications", "Left out: 8 publications"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

}  // namespace
}  // namespace cardan::apps
