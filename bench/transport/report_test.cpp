// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/report.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/transport/peer_modules.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

Row some_row(Scenario scenario) {
  Row row;
  row.contender = {kCardan, Wait::Prewake};
  row.cell = {scenario, 921'600, 30, 40, 10};
  row.runs = 5;
  row.sent = 150;
  row.lost = 3;
  row.torn = 1;
  row.transport_us = {summarize({1, 2, 3}), std::pair{1.5, 2.5}};
  row.end_to_end_us = {summarize({100, 200, 300}), std::nullopt};
  row.spread_us = {summarize({0, 0}), std::nullopt};
  if (scenario.subscribers > 1) row.last_us = row.transport_us;
  row.publisher_cpu_us = 12.34567;
  row.reader_cpu_percent = 0.9;
  row.ratio_to_raw = Ratio{0.05, 0.15, 0.9, 0, 1.5};
  row.transport_p50_by_run = {2, 2, 2};
  return row;
}

TEST(Report, JsonHasTheAgreedForm) {
  Circumstances c;
  c.host = describe_host();
  c.figures.push_back({"ping_pong_round_trip", "us", summarize({0.25}), "two threads"});
  const auto json = to_json({some_row({1, 1}), some_row({1, 5})}, c);
  for (const char* key : {"cardan", "kernel", "cpu", "governor", "steal_percent", "peers"})
    EXPECT_TRUE(json["host"].contains(key)) << key;
  ASSERT_EQ(json["rows"].size(), 2U);
  const auto& row = json["rows"][0];
  EXPECT_EQ(row["peer"], "cardan");
  EXPECT_EQ(row["wait"], "prewake");
  EXPECT_EQ(row["scenario"], "1p1s");
  EXPECT_EQ(row["bytes"], 921'600);
  EXPECT_EQ(row["rate_hz"], 30);
  EXPECT_EQ(row["runs"], 5);
  EXPECT_EQ(row["sent"], 150);
  EXPECT_EQ(row["lost"], 3);
  EXPECT_EQ(row["torn"], 1);
  for (const char* key : {"min", "mean", "p50", "p95", "p99", "max", "std"}) {
    EXPECT_TRUE(row["transport_us"][key].is_number()) << key;
    EXPECT_TRUE(row["end_to_end_us"][key].is_number()) << key;
    EXPECT_TRUE(row["spread_us"][key].is_number()) << key;
  }
  EXPECT_EQ(row["transport_us"]["ci95"], nlohmann::ordered_json::parse("[1.5, 2.5]"));
  EXPECT_TRUE(row["end_to_end_us"]["ci95"].is_null());
  EXPECT_EQ(row["cpu_us_per_message"]["publisher"], 12.346);
  EXPECT_TRUE(row["cpu_us_per_message"]["reader"].is_number());
  EXPECT_EQ(row["reader_cpu_percent"], 0.9);
  EXPECT_TRUE(row["steal_percent"].is_number());
  EXPECT_FALSE(row.contains("last_us"));
  EXPECT_TRUE(json["rows"][1].contains("last_us"));
  EXPECT_EQ(json["figures"][0]["name"], "ping_pong_round_trip");
}

TEST(Report, NamesTheVersionsOfThePeersThatWereMeasured) {
  Row zenoh = some_row({1, 1});
  zenoh.contender.peer = Peer{"zenoh-shm"};
  const std::string version = module_version("zenoh");
  EXPECT_FALSE(version.empty()) << "Cargo.lock has it";
  const auto json = to_json({some_row({1, 1}), zenoh, zenoh}, Circumstances{});
  EXPECT_EQ(json["host"]["peers"], "zenoh " + version);
}

TEST(Report, TableNamesEveryRowAndTheLoss) {
  Row silent = some_row({1, 5});
  silent.transport_us = {};
  const std::string table = to_table({some_row({1, 1}), silent}, {});
  EXPECT_NE(table.find("1p1s · 1 publisher, 1 reader · 900 KiB · 30.0 Hz"), std::string::npos) << table;
  EXPECT_NE(table.find("prewake"), std::string::npos);
  EXPECT_NE(table.find("0.05"), std::string::npos);
  EXPECT_NE(table.find("nothing arrived of 150 sent"), std::string::npos);
}

TEST(Report, WritesTheFileWholeOrSaysWhyNot) {
  const auto folder = std::filesystem::temp_directory_path() / ("cardan-report-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const auto path = (folder / "out.json").string();
  write_json(path, to_json({some_row({1, 1})}, {}));
  std::ifstream in(path);
  EXPECT_EQ(nlohmann::json::parse(in)["rows"].size(), 1U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);  // no temporary file left
  EXPECT_THROW(write_json((folder / "no" / "out.json").string(), {}), Error);
  EXPECT_THROW(write_json(folder.string(), {}), Error);
  std::filesystem::remove_all(folder);
}

TEST(Report, Words) {
  EXPECT_EQ(name_of_duration(5.4), "5 s");
  EXPECT_EQ(name_of_duration(125), "2 min 05 s");
  EXPECT_EQ(name_of_duration(7320), "2 h 02 min");
  EXPECT_EQ(three_digits(0.561), "0.56");
  EXPECT_EQ(three_digits(56.34), "56.3");
  EXPECT_EQ(three_digits(4211.4), "4211");
}

}  // namespace
}  // namespace cardan::bench
