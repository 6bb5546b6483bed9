// SPDX-License-Identifier: Apache-2.0
#include "bench/results/measurement.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "bench/results/statistics.hpp"
#include "bench/results/words.hpp"

namespace cardan::bench {
namespace {

TEST(Thinning, KeepsMediansTailsAndEnds) {
  std::vector<double> samples;
  for (int i = 100'000; i >= 1; --i) samples.push_back(i);
  const MeasuredRun run = make_run(samples);
  EXPECT_EQ(run.count, 100'000U);
  ASSERT_EQ(run.samples.size(), kMostSamplesOfRun);
  EXPECT_EQ(run.samples.front(), 1);
  EXPECT_EQ(run.samples.back(), 100'000);
  EXPECT_NEAR(percentile(run.samples, 0.5), 50'000, 100);
  EXPECT_NEAR(percentile(run.samples, 0.99), 99'000, 100);
  EXPECT_EQ(make_run({3, 1, 2}).samples, (std::vector<double>{3, 1, 2})) << "as taken";
}

TEST(WriteResult, AMeasurementIsALine) {
  const auto path = std::filesystem::temp_directory_path() / ("cardan-write-" + std::to_string(::getpid()) + ".json");
  Measurement m{.part = "transport", .peer = "cardan", .quantity = "transport", .unit = "us"};
  m.runs = {make_run(std::vector<double>(400, 1.5))};
  const nlohmann::ordered_json json{{"host", {{"cpu", "Some CPU"}}}, {"measurements", {to_json(m), to_json(m)}}};
  write_json(path.string(), json);
  std::ifstream in(path);
  EXPECT_EQ(nlohmann::ordered_json::parse(in), json);
  in.clear();
  in.seekg(0);
  EXPECT_LT(std::count(std::istreambuf_iterator<char>(in), {}, '\n'), 20);
  write_json(path.string(), {{"measurements", {1}}});  // nothing else
  std::ifstream again(path);
  EXPECT_EQ(nlohmann::ordered_json::parse(again)["measurements"].size(), 1U);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace cardan::bench
