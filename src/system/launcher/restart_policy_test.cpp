// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/restart_policy.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cardan::launcher {
namespace {

using namespace std::chrono_literals;
using config::RestartWhen;
using What = RestartPolicy::Decision::What;
constexpr std::int64_t kMs = 1'000'000;

/// One end of a process and what must follow it.
struct End {
  std::int64_t at_ms;
  bool in_order;
  What what;
  std::int64_t delay_ms = 0;
};

struct Case {
  const char* name;
  config::Restart rule;
  std::vector<End> ends;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

const std::vector<Case> kCases{
    {"CrashRuleLeavesAnOrderlyEnd", {}, {{0, true, What::Leave}}},
    {"CrashRuleRestartsACrash", {.backoff = 20ms}, {{5, false, What::Restart, 20}}},
    {"AlwaysRestartsAnOrderlyEndToo",
     {.when = RestartWhen::Always, .backoff = 20ms},
     {{0, true, What::Restart, 20}, {100, false, What::Restart, 40}}},
    {"NeverGivesUpACrash", {.when = RestartWhen::Never}, {{0, false, What::GiveUp}}},
    {"NeverLeavesAnOrderlyEnd", {.when = RestartWhen::Never}, {{0, true, What::Leave}}},
    {"BackOffDoublesToItsMaximum",
     {.limit = 9, .backoff = 20ms, .backoff_max = 100ms},
     {{0, false, What::Restart, 20},
      {100, false, What::Restart, 40},
      {200, false, What::Restart, 80},
      {300, false, What::Restart, 100},
      {400, false, What::Restart, 100}}},
    {"BackOffAboveItsMaximumIsTheMaximum",
     {.backoff = 500ms, .backoff_max = 100ms},
     {{0, false, What::Restart, 100}, {1, false, What::Restart, 100}}},
    {"NoBackOffStaysNone",
     {.backoff = 0ms, .backoff_max = 100ms},
     {{0, false, What::Restart, 0}, {1, false, What::Restart, 0}, {2, false, What::Restart, 0}}},
    {"TheLimitGivesUp",
     {.limit = 2, .window = 1s, .backoff = 1ms},
     {{0, false, What::Restart, 1}, {10, false, What::Restart, 2}, {20, false, What::GiveUp}}},
    {"ALimitOfNoneGivesUpAtOnce", {.limit = 0}, {{0, false, What::GiveUp}}},
    {"OrderlyEndsCountForAlways",
     {.when = RestartWhen::Always, .limit = 1, .backoff = 1ms},
     {{0, true, What::Restart, 1}, {10, true, What::GiveUp}}},
    {"WhatLeftTheWindowIsForgotten",
     {.limit = 2, .window = 1s, .backoff = 10ms},
     {{0, false, What::Restart, 10},
      {600, false, What::Restart, 20},
      {1000, false, What::Restart, 20},  // the first is exactly a window ago
      {1500, false, What::GiveUp}}},
    {"AfterAQuietWindowTheBackOffBeginsAnew",
     {.limit = 5, .window = 1s, .backoff = 10ms},
     {{0, false, What::Restart, 10}, {1, false, What::Restart, 20}, {5000, false, What::Restart, 10}}},
};

class RestartPolicyCases : public testing::TestWithParam<Case> {};

TEST_P(RestartPolicyCases, Decides) {
  RestartPolicy policy(GetParam().rule);
  std::uint64_t restarts = 0;
  for (const End& end : GetParam().ends) {
    SCOPED_TRACE(end.at_ms);
    const auto decision = policy.ended(end.in_order, end.at_ms * kMs);
    ASSERT_EQ(decision.what, end.what);
    if (end.what == What::Restart) {
      EXPECT_EQ(decision.at_ns, (end.at_ms + end.delay_ms) * kMs);
      ++restarts;
    }
    EXPECT_EQ(decision.reason.empty(), end.what != What::GiveUp);
    EXPECT_EQ(policy.restarts(), restarts);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RestartPolicyCases, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(RestartPolicy, ALongBackOffDoesNotOverflow) {
  RestartPolicy policy(
      {.limit = 1'000'000, .window = 1h, .backoff = 1h, .backoff_max = std::chrono::nanoseconds::max() / 4});
  for (int i = 0; i < 100; ++i) {
    const auto decision = policy.ended(false, i);
    ASSERT_EQ(decision.what, What::Restart);
    ASSERT_GT(decision.at_ns, 0);
  }
}

TEST(RestartPolicy, SaysWhyItGivesUp) {
  RestartPolicy policy({.limit = 1, .window = 60s});
  (void)policy.ended(false, 0);
  EXPECT_EQ(policy.ended(false, 1).reason, "its limit is 1 restart within 60 s");
}

}  // namespace
}  // namespace cardan::launcher
