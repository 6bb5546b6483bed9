// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "bench/transport/sensors.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

const std::vector<int> kTwoCpus{0, 1};

std::string refused(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::InvalidArgument);
    EXPECT_FALSE(e.remedy().empty());
    return e.cause();
  }
  ADD_FAILURE() << "was accepted";
  return {};
}

TEST(TransportOptions, Sizes) {
  EXPECT_EQ(parse_size("128"), 128U);
  EXPECT_EQ(parse_size("4K"), 4096U);
  EXPECT_EQ(parse_size("64KiB"), 65536U);
  EXPECT_EQ(parse_size("8M"), 8U << 20);
  EXPECT_EQ(parse_size("1G"), 1U << 30);
  EXPECT_EQ(parse_size("640*480*3"), 921'600U);
  for (const char* bad :
       {"", "x", "4Q", "-4", "1.5K", "0", "12", "100001", "2G", "*8", "8*", "99999999999999999999", "1G*1G"}) {
    EXPECT_FALSE(refused([&] { parse_size(bad); }).empty()) << bad;
  }
}

TEST(TransportOptions, Scenarios) {
  EXPECT_EQ(parse_scenario("1p10s"), (Scenario{1, 10}));
  EXPECT_EQ(parse_scenario("5p1s"), (Scenario{5, 1}));
  EXPECT_EQ(name_of(Scenario{1, 5}), "1p5s");
  for (const char* bad : {"1p", "p1s", "0p1s", "1p0s", "1p65s", "1s1p", "1p1sx", "s", "1p-1s"}) {
    EXPECT_NE(refused([&] { parse_scenario(bad); }).find(bad), std::string::npos) << bad;
  }
}

TEST(TransportOptions, LinksAreSeveralScenariosAtOnce) {
  EXPECT_EQ(parse_scenario("4x1p1s"), (Scenario{1, 1, 4}));
  EXPECT_EQ(parse_scenario("64x1p1s"), (Scenario{1, 1, 64}));
  EXPECT_EQ(parse_scenario("1x1p5s"), (Scenario{1, 5}));
  EXPECT_EQ(name_of(Scenario{1, 5, 3}), "3x1p5s");
  EXPECT_EQ(name_of(Scenario{1, 1, 1}), "1p1s");
  EXPECT_EQ(name_of(parse_scenario("ask")), "ask");
  for (const char* bad : {"x1p1s", "0x1p1s", "65x1p1s", "4x", "4x4x1p1s", "-4x1p1s", "4 x1p1s", "1p1sx4", "32x1p4s",
                          "4294967297x1p1s", "18446744073709551615x1p1s"}) {
    EXPECT_NE(refused([&] { parse_scenario(bad); }).find(bad), std::string::npos) << bad;
  }
}

TEST(TransportOptions, LinksHaveTheMemoryOfATopicTogether) {
  const auto o = parse_options({.scenarios = "64x1p1s", .sizes = "16M", .sensors = "cv"}, kTwoCpus);
  ASSERT_EQ(o.cells.size(), 2U);
  EXPECT_EQ(name_of(o.cells[1]), "64x1p1s cv");
  EXPECT_GT(expected_seconds(o.cells[1]), expected_seconds(Cell{{1, 1}, 4'000'000, 50, o.cells[1].frames}));
  EXPECT_NE(refused([] { parse_options({.scenarios = "64x1p1s", .sizes = "32M"}, kTwoCpus); }).find("64x1p1s"),
            std::string::npos);
  EXPECT_EQ(parse_options({.scenarios = "1p1s", .sizes = "1G"}, kTwoCpus).cells.size(), 1U);
}

TEST(TransportOptions, NamesOfSizes) {
  EXPECT_EQ(name_of_bytes(128), "128 B");
  EXPECT_EQ(name_of_bytes(921'600), "900 KiB");
  EXPECT_EQ(name_of_bytes(8 << 20), "8 MiB");
}

TEST(TransportOptions, DefaultSelectionEndsWithinTenMinutes) {
  const auto o = parse_options({}, kTwoCpus);
  EXPECT_LT(expected_seconds(o), 600);
  EXPECT_GT(o.minutes, 0);
  EXPECT_LE(o.minutes, 10);
  EXPECT_EQ(o.runs, 5U);
  EXPECT_EQ(o.contenders.size(), 11U);  // raw 2, sim 2, uds, tcp, tzc, cardan 4
  EXPECT_EQ(o.publisher_cpu, 0);
  EXPECT_EQ(o.reader_cpus, std::vector<int>{1});
}

TEST(TransportOptions, FullIsThePapers) {
  const auto o = parse_options({.full = true}, kTwoCpus);
  EXPECT_EQ(o.runs, 5U);
  EXPECT_EQ(o.cells.size(), 32U);
  EXPECT_EQ(o.minutes, 0);
  for (const Cell& c : o.cells) {
    EXPECT_EQ(c.frames, 1000U);
    EXPECT_EQ(c.warmup, 100U);
    EXPECT_DOUBLE_EQ(c.rate_hz, c.bytes <= 65536 ? 100 : 30);
  }
}

TEST(TransportOptions, SelectionIsTheProduct) {
  const auto o = parse_options({.peers = "cardan,raw",
                                .scenarios = "1p1s,1p5s",
                                .sizes = "128,4K,4K",
                                .waits = "prewake",
                                .rates = "50",
                                .runs = 2,
                                .frames = 60},
                               kTwoCpus);
  ASSERT_EQ(o.cells.size(), 4U);
  EXPECT_EQ(o.cells[0], (Cell{{1, 1}, 128, 50, 60, 10}));
  EXPECT_EQ(o.cells[3], (Cell{{1, 5}, 4096, 50, 60, 10}));
  EXPECT_EQ(o.contenders, (std::vector<Contender>{{kCardan, Wait::Prewake}, {kRaw, Wait::Block}}));
  EXPECT_EQ(o.runs, 2U);
}

TEST(TransportOptions, APeerIsOneHoweverManyWaysItWaits) {
  const auto o = parse_options({.peers = "cardan,raw", .waits = "block,spin,prewake"}, kTwoCpus);
  ASSERT_EQ(o.contenders.size(), 5U);
  EXPECT_EQ(peers_of(o.contenders), (std::vector{kCardan, kRaw}));
}

TEST(TransportOptions, SensorsHaveTheirSizeAndRate) {
  const auto o = parse_options({.scenarios = "1p1s,1p5s", .sensors = "imu,cv,imu"}, kTwoCpus);
  ASSERT_EQ(o.cells.size(), 4U);
  EXPECT_EQ(o.cells[0], (Cell{{1, 1}, 1000, 200, 80, 10, ShortName("imu")}));
  EXPECT_EQ(o.cells[3], (Cell{{1, 5}, 4'000'000, 50, 40, 10, ShortName("cv")}));
  EXPECT_EQ(name_of(o.cells[3]), "1p5s cv");
  const auto all = parse_options({.sizes = "128", .sensors = "all"}, kTwoCpus);
  EXPECT_EQ(all.cells.size(), 1 + kSensors.size());
  EXPECT_EQ(name_of(all.cells[0]), "1p1s");
  for (const Sensor& sensor : kSensors) {
    EXPECT_EQ(parse_size(std::to_string(sensor.bytes)), sensor.bytes) << "can be measured";
    EXPECT_EQ(name_of(ShortName(sensor.name)), sensor.name) << "is not cut";
  }
  EXPECT_NE(refused([] { parse_options({.sensors = "sonar"}, kTwoCpus); }).find("`sonar`"), std::string::npos);
}

TEST(TransportOptions, FewFramesKeepSomeToMeasure) {
  const auto o = parse_options({.sizes = "4K", .frames = 4}, kTwoCpus);
  EXPECT_EQ(o.cells.at(0).warmup, 2U);
}

TEST(TransportOptions, SpinningNeedsACpuEach) {
  EXPECT_TRUE(fits({kRaw, Wait::Spin}, {.scenario = {1, 1}}, 1));
  EXPECT_FALSE(fits({kRaw, Wait::Spin}, {.scenario = {1, 1}, .conditions = {.fifo = true}}, 1));
  EXPECT_FALSE(fits({kRaw, Wait::Spin}, {.scenario = {1, 5}}, 1));
  EXPECT_TRUE(fits({kRaw, Wait::Spin}, {.scenario = {1, 5}}, 5));
  EXPECT_FALSE(fits({kRaw, Wait::Spin}, {.scenario = {5, 1}}, 1)) << "its publishers share a CPU";
  EXPECT_TRUE(fits({kCardan, Wait::Prewake}, {.scenario = {1, 10}}, 1));
  EXPECT_FALSE(fits({kRaw, Wait::Spin}, {.scenario = {1, 1, 2}}, 1));
  EXPECT_FALSE(fits({kRaw, Wait::Spin}, {.scenario = {1, 1, 2}}, 2)) << "four processes on three CPUs";
  EXPECT_TRUE(fits({kRaw, Wait::Spin}, {.scenario = {1, 1, 2}}, 3));
  EXPECT_TRUE(fits({kRaw, Wait::Block}, {.scenario = {1, 1, 64}}, 1));
}

TEST(TransportOptions, SoonIsOnRequest) {
  const auto o = parse_options({.peers = "cardan", .waits = "soon"}, kTwoCpus);
  EXPECT_EQ(o.contenders, (std::vector<Contender>{{kCardan, Wait::Soon}}));
  EXPECT_EQ(name_of(Wait::Soon), "soon");
}

TEST(TransportOptions, Cpus) {
  const auto o = parse_options({.reader_cpus = "0,1", .publisher_cpu = 1}, kTwoCpus);
  EXPECT_EQ(o.publisher_cpu, 1);
  EXPECT_EQ(o.reader_cpus, (std::vector<int>{0, 1}));
  EXPECT_EQ(parse_options({}, {3}).reader_cpus, std::vector<int>{3});
  EXPECT_FALSE(refused([] { parse_options({.publisher_cpu = 7}, kTwoCpus); }).empty());
  EXPECT_FALSE(refused([] { parse_options({.reader_cpus = "9"}, kTwoCpus); }).empty());
  EXPECT_FALSE(refused([] { parse_options({.reader_cpus = "a"}, kTwoCpus); }).empty());
}

TEST(TransportOptions, BadWordsAreNamed) {
  EXPECT_NE(refused([] { parse_options({.peers = "raw,ros"}, kTwoCpus); }).find("ros"), std::string::npos);
  EXPECT_NE(refused([] { parse_options({.waits = "sleep"}, kTwoCpus); }).find("sleep"), std::string::npos);
  EXPECT_FALSE(refused([] { parse_options({.peers = ","}, kTwoCpus); }).empty());
  EXPECT_FALSE(refused([] { parse_options({.rates = "-1"}, kTwoCpus); }).empty());
  EXPECT_FALSE(refused([] { parse_options({.rates = "30,0.01"}, kTwoCpus); }).empty());
  EXPECT_FALSE(refused([] { parse_options({.runs = -1}, kTwoCpus); }).empty());
  EXPECT_FALSE(refused([] { parse_options({.frames = 3}, kTwoCpus); }).empty());
  EXPECT_FALSE(refused([] { parse_options({.full = true, .quick = true}, kTwoCpus); }).empty());
}

TEST(TransportOptions, ARoleIsTakenAsItIs) {
  const auto o = parse_options({.role_fd = 5, .role_index = 3}, kTwoCpus);
  EXPECT_TRUE(o.is_role);
  EXPECT_EQ(o.role_fd, 5);
  EXPECT_EQ(o.role_index, 3U);
}

}  // namespace
}  // namespace cardan::bench
