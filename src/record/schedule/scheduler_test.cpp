// SPDX-License-Identifier: Apache-2.0
// The scheduler in situations that a recorder meets, in simulated time.
#include "src/record/schedule/scheduler.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cardan/error.hpp"
#include "src/record/schedule/recorder_model_test.hpp"

namespace cardan::record {
namespace {

using namespace std::chrono_literals;
using test::kMs;
using test::kSecond;
using test::Model;
using test::Source;
using test::Worker;

constexpr double kDisk = 2.0;  // bytes per ns: 2 GB/s
constexpr std::uint64_t kBudget = std::uint64_t{1} << 30U;
constexpr std::int64_t kWarm = Model::kBegin + kSecond;  // by then it has learned
const std::vector<Source> kCameras{{28 * kMs, 5'529'600, 2}, {40 * kMs, 640'000, 1}};

SchedulerOptions with(SchedulePolicy policy) { return {.policy = policy}; }

TEST(Scheduler, WritesInIdleWindows) {
  const Worker control{"control", 20 * kMs, 8 * kMs, 200'000, 500'000};
  Model cycle(with(SchedulePolicy::Cycle), kCameras, {control}, kDisk, kBudget);
  Model asap(with(SchedulePolicy::Asap), kCameras, {control}, kDisk, kBudget);
  cycle.run(5 * kSecond);
  asap.run(5 * kSecond);
  EXPECT_GT(asap.while_computing(0, kWarm), 0.3);
  EXPECT_LT(cycle.while_computing(0, kWarm), 0.01);
  EXPECT_LT(cycle.oldest, 40 * kMs) << "two cycles";
  const ScheduleReport said = cycle.scheduler.explain(cycle.now());
  EXPECT_GT(said.in_idle_windows, 0.97);
  EXPECT_EQ(said.bytes, cycle.came - cycle.waiting());
  ASSERT_EQ(said.applications.size(), 1U);
  EXPECT_EQ(said.applications[0].name, "control");
  EXPECT_TRUE(said.applications[0].alive);
  EXPECT_NEAR(static_cast<double>(said.applications[0].period_ns), 20e6, 0.5e6);
  EXPECT_NEAR(static_cast<double>(said.applications[0].busy_ns), 8e6, 0.5e6);
  EXPECT_GT(said.applications[0].begin_error_ns, 0);
  EXPECT_LT(said.applications[0].begin_error_ns, 1 * kMs);
  EXPECT_NEAR(said.disk_speed, kDisk * 1e9, 0.2e9);
  const ScheduleReport greedy = asap.scheduler.explain(asap.now());
  EXPECT_EQ(greedy.in_idle_windows, 0);
  EXPECT_LT(said.begins_in_writes * 5, greedy.begins_in_writes) << "what it is good for";
  EXPECT_GT(said.begins, 200U);
}

TEST(Scheduler, WritesAreThroughBeforeTheApplicationBegins) {
  // The window takes what came in a cycle, but not at any time: 12 MB are 12 ms of this disk, the window is 20 ms.
  Model model(with(SchedulePolicy::Cycle), {{40 * kMs, 3'000'000, 4}}, {{"plan", 40 * kMs, 20 * kMs}}, 1.0, kBudget);
  model.run(5 * kSecond);
  const ScheduleReport said = model.scheduler.explain(model.now());
  EXPECT_GT(said.in_idle_windows, 0.9);
  EXPECT_LT(said.begins_in_writes, said.begins / 20);
}

TEST(Scheduler, WeightsSayWhoMatters) {
  const Worker heavy{"perception", 50 * kMs, 20 * kMs, 0, 0, 30};
  const Worker light{"logging", 20 * kMs, 12 * kMs, 0, 0, 1};
  Model unequal(with(SchedulePolicy::Cycle), kCameras, {heavy, light}, kDisk, kBudget);
  unequal.run(5 * kSecond);
  EXPECT_LT(unequal.while_computing(0, kWarm), 0.02);
  EXPECT_GT(unequal.while_computing(1, kWarm), 0.4) << "nobody waits for a light one";

  Worker equal = light;
  equal.weight = heavy.weight;
  Model both(with(SchedulePolicy::Cycle), kCameras, {heavy, equal}, kDisk, kBudget);
  both.run(5 * kSecond);
  EXPECT_LT(both.while_computing(0, kWarm), 0.05);
  EXPECT_LT(both.while_computing(1, kWarm), 0.05);
  EXPECT_LT(both.oldest, 250 * kMs);
  EXPECT_GT(both.scheduler.explain(both.now()).in_idle_windows, 0.9);
}

TEST(Scheduler, BurstsAreEvenedOut) {
  const std::vector<Source> bursts{{40 * kMs, 3'750'000, 6}};
  Model paced(with(SchedulePolicy::Paced), bursts, {}, kDisk, kBudget);
  Model none(with(SchedulePolicy::Cycle), bursts, {}, kDisk, kBudget);
  Model asap(with(SchedulePolicy::Asap), bursts, {}, kDisk, kBudget);
  for (Model* model : {&paced, &none, &asap}) model->run(5 * kSecond);
  const std::uint64_t mean = 6 * 3'750'000 / 4;  // in 10 ms
  EXPECT_EQ(asap.most_within(10 * kMs, kWarm), 4 * mean);
  EXPECT_LE(paced.most_within(10 * kMs, kWarm), 2 * mean);
  EXPECT_LE(none.most_within(10 * kMs, kWarm), 2 * mean) << "without hints it is paced too";
  EXPECT_EQ(paced.bytes_of(WriteReason::ForcedByAge), 0U);
  EXPECT_EQ(none.bytes_of(WriteReason::NoHints), none.came - none.waiting());
  EXPECT_LT(paced.oldest, 150 * kMs);
}

TEST(Scheduler, ARareBurstIsSpreadToo) {
  Model model(with(SchedulePolicy::Paced), {{2 * kSecond, 1'000'000, 100}}, {}, kDisk, kBudget);
  model.run(10 * kSecond);
  EXPECT_LT(model.most_within(10 * kMs), 25'000'000U) << "of 100 MB at once";
  EXPECT_LT(model.oldest, 150 * kMs);
}

TEST(Scheduler, TricklesAreWrittenToo) {
  for (const SchedulePolicy policy : {SchedulePolicy::Paced, SchedulePolicy::Cycle}) {
    Model model(with(policy), {{100 * kMs, 200, 1}}, {}, kDisk, kBudget);
    model.run(2 * kSecond);
    EXPECT_LE(model.oldest, 130 * kMs);
    EXPECT_LT(model.looks, 1'500U);
  }
}

TEST(Scheduler, AWorkerThatStopsGivingHintsDoesNotCount) {
  Worker dies{"dies", 20 * kMs, 10 * kMs};
  dies.silent_from = 2 * kSecond + 7 * kMs + 20 * kMs / 3;  // while it computes
  Model model(with(SchedulePolicy::Cycle), kCameras, {dies}, kDisk, kBudget);
  model.run(2 * kSecond);
  ASSERT_GT(model.bytes_of(WriteReason::IdleWindow), 0U);
  model.run(300 * kMs);
  const std::size_t before = model.issues.size();
  model.run(1 * kSecond);
  ASSERT_GT(model.issues.size(), before);
  for (std::size_t i = before; i < model.issues.size(); ++i) EXPECT_EQ(model.issues[i].why, WriteReason::NoHints);
  EXPECT_LT(model.oldest, 250 * kMs);
  const ScheduleReport said = model.scheduler.explain(model.now());
  ASSERT_EQ(said.applications.size(), 1U);
  EXPECT_FALSE(said.applications[0].alive);
  EXPECT_FALSE(said.applications[0].busy);
}

TEST(Scheduler, AWorkerThatStartsAgainTakesItsPlace) {
  Scheduler scheduler;
  CycleHint hint;
  hint.name = "control";
  for (std::uint64_t life = 1; life <= 200; ++life) {
    const std::int64_t now = Model::kBegin + static_cast<std::int64_t>(life) * 10 * kSecond;
    hint.instance = life;
    hint.count = 1;
    hint.begin_ns = now;
    hint.busy = true;
    scheduler.hint(hint, now);
  }
  const ScheduleReport said = scheduler.explain(Model::kBegin + 2000 * kSecond);
  EXPECT_EQ(said.applications.size(), 1U);
  EXPECT_EQ(said.ignored_hints, 0U);
}

TEST(Scheduler, AnAlwaysBusyApplicationOnlyMakesItEven) {
  // Its idle time is shorter than the margin.
  Model model(with(SchedulePolicy::Cycle), kCameras, {{"busy", 10 * kMs, 9'900'000}}, kDisk, kBudget);
  model.run(5 * kSecond);
  EXPECT_LT(model.oldest, 150 * kMs) << "as soon as where nobody gives hints";
  EXPECT_GT(model.bytes_of(WriteReason::NoWindow), model.came * 9 / 10);
  EXPECT_EQ(model.bytes_of(WriteReason::ForcedByAge), 0U);
  const std::uint64_t mean = 2 * 5'529'600 * 10 / 28 + 640'000 / 4;  // in 10 ms
  EXPECT_LE(model.most_within(10 * kMs, kWarm), 3 * mean);
}

TEST(Scheduler, AgeForcesIt) {
  for (const SchedulePolicy policy : {SchedulePolicy::Paced, SchedulePolicy::Cycle}) {
    Scheduler scheduler(with(policy));
    std::int64_t now = Model::kBegin;
    CycleHint busy;
    busy.name = "busy";
    busy.weight = 1000;
    busy.count = 1;
    busy.busy = true;
    busy.begin_ns = now + 240 * kMs;
    for (int i = 0; i < 10; ++i) scheduler.arrived(1'000'000, now + i * 25 * kMs);
    now += 250 * kMs;
    scheduler.hint(busy, now);
    const Decision decision = scheduler.decide({10'000'000, Model::kBegin, 0.1, 0}, now);
    EXPECT_EQ(decision.why, WriteReason::ForcedByAge);
    EXPECT_GE(decision.bytes, 3'000'000U) << "with what is nearly as old";
    EXPECT_LE(decision.bytes, 4'000'000U) << "and not all";
    EXPECT_LE(decision.look_again_ns, now + kMs);
    scheduler.issued(4'000'000, now);
    EXPECT_EQ(scheduler.explain(now).of(WriteReason::ForcedByAge).bytes, 4'000'000U);
    EXPECT_EQ(scheduler.explain(now).longest_wait_ns, 250 * kMs);
    // Also what it was never told of.
    EXPECT_GT(scheduler.decide({500, Model::kBegin - kSecond, 0, 0}, now).bytes, 0U);
  }
}

TEST(Scheduler, SizeForcesIt) {
  for (const SchedulePolicy policy : {SchedulePolicy::Paced, SchedulePolicy::Cycle}) {
    Scheduler scheduler(with(policy));
    const std::int64_t now = Model::kBegin;
    scheduler.arrived(10'000'000, now);
    for (const double share : {0.5, 0.8, 1.0, 7.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
      const Decision decision = scheduler.decide({10'000'000, now, share, 0}, now);
      EXPECT_EQ(decision.why, WriteReason::ForcedBySize) << share;
      EXPECT_GE(decision.bytes, 5'000'000U) << share;
      EXPECT_LE(decision.bytes, 10'000'000U) << share;
    }
    EXPECT_NE(scheduler.decide({10'000'000, now, 0.49, 0}, now).why, WriteReason::ForcedBySize);
  }
}

TEST(Scheduler, ADiskThatTakesAFrameLongerThanAWindowStillGetsThem) {
  // 5.5 MB take 37 ms, the window is 12 ms.
  Model model(with(SchedulePolicy::Cycle), {{100 * kMs, 5'529'600, 1}}, {{"control", 20 * kMs, 8 * kMs}}, 0.15,
              kBudget);
  model.run(5 * kSecond);
  EXPECT_LT(model.oldest, 250 * kMs);
  EXPECT_LT(model.while_computing(0, kWarm), 0.5) << "at least it begins in a window, mostly";
}

TEST(Scheduler, LyingHintsOnlyDelay) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::mt19937_64 random(7);
  Model model(with(SchedulePolicy::Cycle), kCameras, {{"honest", 20 * kMs, 8 * kMs}}, kDisk, kBudget);
  const auto any_time = [&](std::int64_t now) {
    switch (random() % 6) {
      case 0:
        return static_cast<std::int64_t>(random());
      case 1:
        return kMost;
      case 2:
        return -kMost;
      default:
        return now - static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(kSecond));
    }
  };
  model.also = [&](std::int64_t now) {
    for (int i = 0; i < 3; ++i) {
      CycleHint lie;
      lie.instance = random() % 3 == 0 ? random() : random() % 200;
      lie.count = random() % 2 == 0 ? random() : random() % 10;
      lie.begin_ns = any_time(now);
      lie.end_ns = any_time(now);
      lie.worked_ns = any_time(now);
      lie.period_ns = any_time(now);
      lie.busy = random() % 2 == 0;
      lie.weight = random() % 4 == 0 ? std::nan("") : static_cast<double>(random() % 2000);
      (void)lie.name.assign(std::string(random() % 80, static_cast<char>(random())));
      model.scheduler.hint(lie, now, random() % 2 == 0 ? any_time(now) : 0);
    }
    CycleHint always;  // and one that says it computes, whenever one looks
    always.instance = 999;
    always.name = "always";
    always.weight = 1000;
    always.count = 2 * static_cast<std::uint64_t>(now);
    always.begin_ns = now;
    always.busy = true;
    model.scheduler.hint(always, now);
  };
  model.run(5 * kSecond);
  EXPECT_LT(model.oldest, 250 * kMs + kMs);
  EXPECT_LT(model.waiting(), model.came / 10);
  const ScheduleReport said = model.scheduler.explain(model.now());
  EXPECT_GT(said.absurd_hints, 1'000U);
  EXPECT_LE(said.applications.size(), schedule::Applications::kMost);
  for (const auto& a : said.applications) {
    EXPECT_GE(a.period_ns, 0);
    EXPECT_GE(a.busy_ns, 0);
    EXPECT_TRUE(a.weight > 0 && a.weight <= 1000);
  }
  EXPECT_FALSE(to_text(said).empty());
}

TEST(Scheduler, HintsOfAnotherClockAreMovedToThisOne) {
  for (const std::int64_t shift : {-500 * kSecond, 5'000 * kSecond}) {
    Scheduler scheduler;
    CycleHint hint;
    hint.name = "container";
    for (std::uint64_t n = 1; n < 20; ++n) {
      const std::int64_t begin = Model::kBegin + static_cast<std::int64_t>(n) * 20 * kMs;
      hint.count = n;
      hint.begin_ns = begin + shift;
      hint.busy = true;
      scheduler.hint(hint, begin + 1'000, begin + 500);
    }
    const ScheduleReport said = scheduler.explain(Model::kBegin + 390 * kMs);
    ASSERT_EQ(said.applications.size(), 1U) << said.absurd_hints;
    EXPECT_TRUE(said.applications[0].busy);
    EXPECT_EQ(said.applications[0].period_ns, 20 * kMs);
  }
}

TEST(Scheduler, SixtyFourApplicationsAreEnough) {
  std::vector<Worker> workers;
  for (int i = 0; i < 70; ++i) workers.push_back({"app" + std::to_string(i), (20 + i % 7) * kMs, kMs, 0, 0, 1});
  Model model(with(SchedulePolicy::Cycle), kCameras, workers, kDisk, kBudget);
  model.run(2 * kSecond);
  const ScheduleReport said = model.scheduler.explain(model.now());
  EXPECT_EQ(said.applications.size(), 64U);
  EXPECT_GT(said.ignored_hints, 0U);
  EXPECT_LT(model.oldest, 250 * kMs);
}

TEST(Scheduler, NothingWaitsIsNothingToDo) {
  for (const SchedulePolicy policy : {SchedulePolicy::Asap, SchedulePolicy::Paced, SchedulePolicy::Cycle}) {
    Scheduler scheduler(with(policy));
    const Decision decision = scheduler.decide({}, Model::kBegin);
    EXPECT_EQ(decision.bytes, 0U);
    EXPECT_EQ(decision.why, WriteReason::Nothing);
    EXPECT_GT(decision.look_again_ns, Model::kBegin);
  }
}

TEST(Scheduler, OptionsThatMakeNoSenseAreRefused) {
  const auto refused = [](const SchedulerOptions& options) {
    try {
      const Scheduler scheduler(options);
      return false;
    } catch (const Error& e) {
      return e.code() == ErrorCode::InvalidArgument && !e.remedy().empty();
    }
  };
  EXPECT_FALSE(refused({}));
  EXPECT_TRUE(refused({.max_age = 0ns}));
  EXPECT_TRUE(refused({.max_age = 10h}));
  EXPECT_TRUE(refused({.max_age = 50ms}));  // smoothing is 100 ms
  EXPECT_FALSE(refused({.max_age = 50ms, .smoothing = 50ms}));
  EXPECT_TRUE(refused({.force_share = 0}));
  EXPECT_TRUE(refused({.force_share = std::nan("")}));
  EXPECT_TRUE(refused({.smoothing = -1ms}));
  EXPECT_TRUE(refused({.margin = -1ms}));
  EXPECT_TRUE(refused({.quiet_share = 1.5}));
  EXPECT_TRUE(refused({.least_write = ~std::uint64_t{0}}));
  EXPECT_TRUE(refused({.longest_look = 0ms}));
}

TEST(Scheduler, PoliciesHaveNames) {
  for (const SchedulePolicy policy : {SchedulePolicy::Asap, SchedulePolicy::Paced, SchedulePolicy::Cycle}) {
    SchedulePolicy parsed{};
    EXPECT_TRUE(parse(to_string(policy), parsed));
    EXPECT_EQ(parsed, policy);
  }
  SchedulePolicy parsed{};
  EXPECT_FALSE(parse("eager", parsed));
}

TEST(Scheduler, ExplainsItself) {
  Model model(with(SchedulePolicy::Cycle), kCameras, {{"con\x1b[31mtrol", 20 * kMs, 8 * kMs, 0, 0, 2.5}}, kDisk,
              kBudget);
  model.run(2 * kSecond);
  const std::string text = to_text(model.scheduler.explain(model.now()));
  for (const char* part :
       {"policy cycle", "idle window", "con?[31mtrol", "2.5", "20.00", "8.00", "while writes were in"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(to_text(Scheduler().explain(Model::kBegin)).find("no application marks a cycle"), std::string::npos);
}

}  // namespace
}  // namespace cardan::record
