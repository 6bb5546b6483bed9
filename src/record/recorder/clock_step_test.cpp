// SPDX-License-Identifier: Apache-2.0
// The wall clock is set while a recording is made: times in the file continue by the steady clock, and the file says
// it.
#include <gtest/gtest.h>

#include <atomic>

#include "cardan/clock.hpp"
#include "src/record/metadata.hpp"
#include "src/record/recorder/recording_test.hpp"

namespace cardan::record {
namespace {

using namespace test;

constexpr std::int64_t kStep = 3'600'000'000'000;

class ClockSteps : public RecorderTest {
 protected:
  /// Log times of five samples, between which the clock is set forward and back.
  std::vector<std::uint64_t> record(std::int64_t ahead, std::int64_t first, std::int64_t second) {
    std::atomic<std::int64_t> clock{ahead};
    RecorderOptions o = options();
    o.wall_clock_ahead = [&clock] { return clock.load(); };
    Publisher imu{kImu};
    Recorder recorder(o);
    std::uint32_t published = 0;
    const auto publish = [&] {
      publish_imu(imu, ++published);
      EXPECT_TRUE(reaches([&] { return recorder.report().recorded == published; }, 60s));
    };
    publish();
    publish();
    clock += first;
    EXPECT_TRUE(reaches([&] { return recorder.report().clock_steps.size() == 1; }, 60s));
    publish();
    clock += second;
    EXPECT_TRUE(reaches([&] { return recorder.report().clock_steps.size() == 2; }, 60s));
    publish();
    publish();
    recorder.stop();
    const auto& steps = recorder.report().clock_steps;
    EXPECT_EQ(steps.size(), 2U);
    EXPECT_EQ(steps[0].by_ns, first);
    EXPECT_EQ(steps[1].by_ns, second);
    expect_good(o.path);
    const mcap::Reader reader(o.path);
    std::size_t noted = 0;
    for (const mcap::MetadataIndex& index : reader.summary().metadata())
      if (index.name == "cardan.clock_steps") noted = reader.metadata(index)->metadata.size();
    EXPECT_EQ(noted, 2U);
    std::vector<std::uint64_t> times;
    mcap::Messages messages = reader.messages();
    while (const auto m = messages.next()) times.push_back(m->message.log_time);
    EXPECT_EQ(numbers_in(o.path, kImu.name), up_to(5));
    return times;
  }
};

TEST_F(ClockSteps, OrderAndDistancesStayThoseOfTheSteadyClock) {
  for (const std::int64_t step : {kStep, -kStep}) {
    const std::int64_t before = steady_now(), ahead = wall_clock_ahead();
    const auto times = record(ahead, step, -2 * step);
    std::filesystem::remove(options().path);
    ASSERT_EQ(times.size(), 5U);
    EXPECT_GE(times.front(), static_cast<std::uint64_t>(before + ahead));
    EXPECT_LE(times.back(), static_cast<std::uint64_t>(steady_now() + ahead));
    EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  }
}

TEST_F(ClockSteps, AClockThatCountsFrom1970UntilItIsSet) {
  const std::int64_t began = steady_now();
  const auto times = record(1'000'000'000 - began, wall_clock_ahead() + began, kStep);
  ASSERT_EQ(times.size(), 5U);
  EXPECT_GE(times.front(), 1'000'000'000U);
  EXPECT_LE(times.back(), static_cast<std::uint64_t>(1'000'000'000 + steady_now() - began));
}

}  // namespace
}  // namespace cardan::record
