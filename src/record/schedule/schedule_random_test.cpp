// SPDX-License-Identifier: Apache-2.0
// Whatever comes, whatever computes: nothing waits longer than it may, and everything gets written.
#include <gtest/gtest.h>

#include "src/record/schedule/recorder_model_test.hpp"

namespace cardan::record {
namespace {

using test::kMs;
using test::kSecond;
using test::kUs;
using test::Model;
using test::Source;
using test::Worker;

class RandomSchedules : public testing::TestWithParam<SchedulePolicy> {};

TEST_P(RandomSchedules, NothingWaitsLongerThanItMay) {
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    std::mt19937 random(seed);
    const auto between = [&](std::int64_t least, std::int64_t most) {
      return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    SchedulerOptions options{.policy = GetParam()};
    options.max_age = std::chrono::nanoseconds{between(5 * kMs, 500 * kMs)};
    options.smoothing = std::chrono::nanoseconds{between(kMs, options.max_age.count())};
    options.margin = std::chrono::nanoseconds{between(0, 5 * kMs)};
    options.force_share = static_cast<double>(between(1, 100)) / 100;
    options.quiet_share = static_cast<double>(between(0, 100)) / 100;
    options.least_write = static_cast<std::uint64_t>(between(0, 4'000'000));
    options.longest_look = std::chrono::nanoseconds{between(kMs, 50 * kMs)};

    std::vector<Source> sources;
    double load = 0;
    for (std::int64_t i = between(1, 6); i > 0; --i) {
      const Source s{between(kMs, 300 * kMs), static_cast<std::uint64_t>(between(1, between(1, 8'000'000))),
                     static_cast<int>(between(1, 5))};
      load += static_cast<double>(s.bytes) * s.count / static_cast<double>(s.period);
      sources.push_back(s);
    }
    std::vector<Worker> workers;
    for (std::int64_t i = between(0, 8); i > 0; --i) {
      Worker w{"w", between(500 * kUs, 200 * kMs), 0};
      w.work = between(1, w.period);
      w.jitter = between(0, w.period / 2);
      w.work_jitter = between(0, w.work);
      w.weight = static_cast<double>(between(1, 1'000));
      w.says_period = between(0, 1) == 1;
      if (between(0, 3) == 0) w.silent_from = between(0, 2 * kSecond);
      workers.push_back(w);
    }
    const double disk = std::max(0.05, load * static_cast<double>(between(80, 1000)) / 100);
    const auto budget = static_cast<std::uint64_t>(between(1'000'000, 1'000'000'000));
    Model model(options, sources, workers, disk, budget, seed);
    model.run(2 * kSecond);

    SCOPED_TRACE(seed);
    // A look is at most 200 µs after the age is reached.
    ASSERT_LE(model.oldest, options.max_age.count() + 250 * kUs);
    std::uint64_t written = 0;
    for (const test::Issue& issue : model.issues) {
      written += issue.bytes;
      ASSERT_LE(issue.age, options.max_age.count() + 250 * kUs);
    }
    ASSERT_EQ(written + model.waiting(), model.came);
    const ScheduleReport said = model.scheduler.explain(model.now());
    ASSERT_EQ(said.bytes, written);
    ASSERT_LE(said.applications.size(), workers.size());
    ASSERT_LE(model.looks, 2U * 5'000U + 2U * model.issues.size() + 10'000U) << "it does not spin";
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, RandomSchedules,
                         testing::Values(SchedulePolicy::Asap, SchedulePolicy::Paced, SchedulePolicy::Cycle),
                         [](const auto& policy) { return std::string(to_string(policy.param)); });

}  // namespace
}  // namespace cardan::record
