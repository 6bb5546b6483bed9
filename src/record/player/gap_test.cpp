// SPDX-License-Identifier: Apache-2.0
// A recording whose clock was set by an hour, in a replay.
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "cardan/component.hpp"
#include "src/record/player/bag_test.hpp"
#include "src/record/player/simulate.hpp"

namespace cardan::record::test {

constexpr Topic<CanFrame> kGapInput{"/gap_input", {.depth = 16}};
constexpr Topic<CanFrame> kGapCopy{"/gap_copy", {.depth = 16}};
constexpr Topic<Imu> kGapTick{"/gap_tick", {}};

/// Copies its input, and ticks.
class GapTestTicker : public Component {
  void on_start(Context& context) override {
    copy_ = context.output(kGapCopy);
    tick_ = context.output(kGapTick);
    context.input(kGapInput, [this](const Sample<CanFrame>& in) {
      auto copy = copy_.loan();
      copy->id = in->id;
      copy_.publish(std::move(copy));
    });
    context.timer(std::chrono::milliseconds(30), [this] { tick_.publish(Imu{}); });
  }
  Output<CanFrame> copy_;
  Output<Imu> tick_;
};
CARDAN_COMPONENT(GapTestTicker)

namespace {

TEST(SimulateGap, NoTimerRunsWhileTheClockWasSet) {
  constexpr std::uint64_t kJump = 3600 * kSecond;
  Bag bag;
  const auto channel = bag.add<CanFrame>("/gap_input");
  for (std::uint32_t i = 0; i < 20; ++i) bag.write(channel, i * kSecond / 10 + (i < 10 ? 0 : kJump), CanFrame{});
  const mcap::test::FileOnDisk file(bag.bytes()), output({});
  config::Configuration configuration;
  configuration.name = "test";
  configuration.processes.push_back({.name = "all"});
  configuration.processes[0].components.push_back({.name = "ticker", .class_name = "GapTestTicker"});
  const SimulateReport report = simulate(configuration, {file.path()}, {.output = output.path(), .replace = true});
  EXPECT_EQ(report.gaps, 1U);
  EXPECT_EQ(report.skipped_ns, static_cast<std::int64_t>(kJump + kSecond / 10));
  const mcap::Reader reader(output.path());
  mcap::Messages messages = reader.messages();
  std::size_t ticks = 0;
  std::vector<std::uint64_t> copies;
  while (const auto one = messages.next()) {
    if (one->channel->topic == "/gap_tick")
      ++ticks;
    else
      copies.push_back(one->message.log_time);
  }
  EXPECT_EQ(ticks, 60U) << "each 30 ms of 1.8 s";
  ASSERT_EQ(copies.size(), 20U);
  EXPECT_EQ(copies.front(), kBegin);
  EXPECT_EQ(copies.back(), kBegin + kJump + 19 * kSecond / 10) << "the recording's own times";
}

TEST(SimulateGap, TimesThatASignedNumberDoesNotHoldAreKept) {
  constexpr std::uint64_t kFirst = (std::uint64_t{1} << 63) - kSecond;
  Bag bag;
  const auto channel = bag.add<CanFrame>("/gap_input");
  for (std::uint32_t i = 0; i < 20; ++i) bag.write(channel, kFirst - kBegin + i * kSecond / 10, CanFrame{});
  const mcap::test::FileOnDisk file(bag.bytes()), output({});
  config::Configuration configuration;
  configuration.name = "test";
  configuration.processes.push_back({.name = "all"});
  configuration.processes[0].components.push_back({.name = "ticker", .class_name = "GapTestTicker"});
  const SimulateReport report = simulate(configuration, {file.path()}, {.output = output.path(), .replace = true});
  EXPECT_EQ(report.simulated_ns, static_cast<std::int64_t>(19 * kSecond / 10));
  const mcap::Reader reader(output.path());
  mcap::Messages messages = reader.messages();
  std::vector<std::uint64_t> copies;
  while (const auto one = messages.next())
    if (one->channel->topic == "/gap_copy") copies.push_back(one->message.log_time);
  ASSERT_EQ(copies.size(), 20U);
  for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(copies[i], kFirst + i * kSecond / 10);
}

TEST(SimulateGap, MessagesTooFarFromTheFirstAreReported) {
  Bag bag;
  const auto channel = bag.add<CanFrame>("/gap_input");
  for (const std::uint64_t at : {std::uint64_t{0}, kSecond, std::uint64_t{1} << 63}) bag.write(channel, at, CanFrame{});
  const mcap::test::FileOnDisk file(bag.bytes());
  config::Configuration configuration;
  configuration.name = "test";
  configuration.processes.push_back({.name = "all"});
  configuration.processes[0].components.push_back({.name = "ticker", .class_name = "GapTestTicker"});
  const SimulateReport report = simulate(configuration, {file.path()}, {});
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_NE(report.problems[0].find("292 years"), std::string::npos);
}

}  // namespace
}  // namespace cardan::record::test
