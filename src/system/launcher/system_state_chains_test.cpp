// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "src/system/launcher/system_state.hpp"
#include "src/system/launcher/system_state_fixture.hpp"

namespace cardan::launcher {
namespace {

using namespace std::chrono_literals;

Condition of_chains(Condition::Kind kind, std::vector<std::string> names, std::chrono::milliseconds lasting,
                    int times = 1) {
  return {.kind = kind, .names = std::move(names), .lasting = lasting, .times = times};
}

/// News each 100 ms from `from` to `to`; they change nothing.
void in_time(Machine& m, const char* chain, std::int64_t from, std::int64_t to) {
  for (std::int64_t ms = from; ms <= to; ms += 100) {
    m.machine.chain(chain, 3, 0, ms * kMillisecond);
    EXPECT_TRUE(m.at(ms).empty()) << ms;
  }
}

TEST(StateMachine, AChainThatExceedsItsBudgetIsLateForItsTime) {
  Machine m({rule({State::Running}, of_chains(Condition::Kind::Late, {"brake", "steer"}, 0ms), State::Degraded),
             rule({State::Degraded}, up({"a"}), State::Running)});
  m.machine.chain("brake", 0, 5, 5 * kMillisecond, "slow start");
  m.start(10);
  EXPECT_EQ(m.machine.state(), State::Running) << "what was late while the system started does not count";
  in_time(m, "brake", 100, 900);
  m.machine.chain("other", 0, 1, 950 * kMillisecond, "x");
  EXPECT_TRUE(m.at(950).empty());
  m.machine.chain("steer", 2, 1, 1000 * kMillisecond, "71.3 ms");
  const auto changes = m.at(1001);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].to, State::Degraded);
  EXPECT_EQ(changes[0].at_ns, 1000 * kMillisecond);
  EXPECT_EQ(changes[0].reason, "steer exceeded its budget: 71.3 ms");
  EXPECT_GT(m.next_ms(), 1001) << "no news may come: it looks again";
  EXPECT_TRUE(m.at(1999).empty()) << "late for one second, and the way back waits";
  const auto back = m.at(2300);
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0].to, State::Running);
  EXPECT_EQ(back[0].at_ns, 2000 * kMillisecond) << "however late somebody looked";
  m.machine.chain("brake", 0, 1, 3000 * kMillisecond, "80 ms");
  EXPECT_EQ(m.at(3000).size(), 1U) << "and again";
}

TEST(StateMachine, SeveralExceedingsAreNeededWithinTheTime) {
  Machine m({rule({State::Running}, of_chains(Condition::Kind::Late, {"brake"}, 500ms, 3), State::Degraded),
             rule({State::Degraded}, up({"a"}), State::Running)});
  m.start(10);
  const auto late = [&](std::int64_t ms, std::uint64_t times) {
    m.machine.chain("brake", 0, times, ms * kMillisecond, "80 ms");
    return m.at(ms).size();
  };
  EXPECT_EQ(late(1000, 2), 0U);
  EXPECT_EQ(late(1500, 2), 0U) << "the first two are 500 ms old";
  m.machine.chain("brake", 0, 1, 1900 * kMillisecond, "80 ms");
  const auto changes = m.at(1900);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].reason, "brake exceeded its budget 3 times within 500 ms: 80 ms");
  const auto back = m.at(2500);
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0].at_ns, 2000 * kMillisecond) << "then the first of the three is 500 ms old";
}

TEST(StateMachine, ItGoesBackWhenAChainHasBeenInTimeForItsTime) {
  Machine m({rule({State::Running}, of_chains(Condition::Kind::Late, {"brake"}, 500ms), State::Degraded),
             rule({State::Degraded}, of_chains(Condition::Kind::InTime, {"brake", "steer"}, 1000ms), State::Running)});
  m.start(10);
  m.machine.chain("brake", 0, 1, 1000 * kMillisecond, "80 ms");
  ASSERT_EQ(m.at(1000).size(), 1U);
  in_time(m, "brake", 1100, 3000);
  EXPECT_EQ(m.machine.state(), State::Degraded) << "nothing came on the other chain";
  for (std::int64_t ms = 3100; ms <= 3600; ms += 100) {
    m.machine.chain("steer", 1, 0, ms * kMillisecond);
    in_time(m, "brake", ms, ms);
  }
  m.machine.chain("brake", 4, 1, 3700 * kMillisecond, "81 ms");
  EXPECT_TRUE(m.at(3700).empty());
  m.machine.chain("steer", 1, 0, 3750 * kMillisecond);
  in_time(m, "brake", 3800, 4700);
  m.machine.chain("steer", 1, 0, 4700 * kMillisecond);
  EXPECT_EQ(m.next_ms(), 4800) << "one second after the first one in time";
  const auto changes = m.at(4800);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].to, State::Running);
  EXPECT_EQ(changes[0].at_ns, 4800 * kMillisecond);
  EXPECT_EQ(changes[0].reason, "brake, steer have been in time for 1000 ms");
}

TEST(StateMachine, AChainThatPausesIsNotInTime) {
  Machine m({rule({State::Running}, of_chains(Condition::Kind::Late, {"brake"}, 500ms), State::SafeStop),
             rule({State::SafeStop}, of_chains(Condition::Kind::InTime, {"brake"}, 1000ms), State::Running)});
  m.start(10);
  m.machine.chain("brake", 0, 1, 1000 * kMillisecond, "80 ms");
  ASSERT_EQ(m.at(1000).size(), 1U);
  in_time(m, "brake", 2000, 2000);
  EXPECT_TRUE(m.at(3500).empty()) << "one publication, then silence";
  in_time(m, "brake", 4000, 4900);
  m.machine.chain("brake", 1, 0, 5000 * kMillisecond);
  const auto changes = m.at(5000);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].at_ns, 5000 * kMillisecond);
}

TEST(StateMachine, WithOtherRulesALateChainStaysLate) {
  const auto late = rule({State::Running}, of_chains(Condition::Kind::Late, {"brake"}, 500ms), State::Degraded);
  const auto back = rule({State::Degraded}, up({"a"}), State::Running);
  Machine m({late, back});
  m.start(10);
  m.machine.chain("brake", 0, 1, 1000 * kMillisecond, "80 ms");
  ASSERT_EQ(m.at(1000).size(), 1U);
  StateMachine next = resumed(m, {back, late}, 1100);
  EXPECT_TRUE(next.advance(1499 * kMillisecond).empty());
  EXPECT_EQ(next.advance(1500 * kMillisecond).size(), 1U);
}

}  // namespace
}  // namespace cardan::launcher
