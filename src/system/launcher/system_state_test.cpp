// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/system_state.hpp"

#include <gtest/gtest.h>

#include "src/system/launcher/system_state_fixture.hpp"

namespace cardan::launcher {
namespace {

using namespace std::chrono_literals;

TEST(StateMachine, RunsWhenAllAreUp) {
  Machine m({});
  m.process("a", Unit::Up, 5);
  EXPECT_TRUE(m.at(5).empty());
  EXPECT_EQ(m.next_ms(), -1);
  m.process("b", Unit::Up, 9);
  const auto changes = m.at(12);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].from, State::Starting);
  EXPECT_EQ(changes[0].to, State::Running);
  EXPECT_EQ(changes[0].at_ns, 9 * kMillisecond);
  EXPECT_EQ(changes[0].reason, "all processes are up");
}

TEST(StateMachine, AProcessThatFinishedInOrderDoesNotKeepTheOthersFromRunning) {
  Machine m({});
  m.process("a", Unit::Finished, 5);
  m.process("b", Unit::Up, 9);
  EXPECT_EQ(m.at(9).size(), 1U);
}

TEST(StateMachine, StayingDownForLongEnoughDegrades) {
  Machine m({rule({State::Running}, down("a", 300ms), State::Degraded)});
  m.start(10);
  m.process("a", Unit::Down, 1000, "died by signal 11");
  EXPECT_TRUE(m.at(1000).empty());
  EXPECT_EQ(m.next_ms(), 1300);
  EXPECT_TRUE(m.at(1299).empty());
  const auto changes = m.at(1350);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].to, State::Degraded);
  EXPECT_EQ(changes[0].at_ns, 1300 * kMillisecond) << "when it was due, however late somebody looked";
  EXPECT_EQ(changes[0].reason, "a is down for 300 ms: died by signal 11");
}

TEST(StateMachine, ABreakRestartsTheTime) {
  Machine m({rule({State::Running}, down("a", 300ms), State::Degraded)});
  m.start(10);
  m.process("a", Unit::Down, 1000);
  m.process("a", Unit::Up, 1200);
  EXPECT_TRUE(m.at(1400).empty());
  EXPECT_EQ(m.next_ms(), -1);
  m.process("a", Unit::Down, 1500);
  EXPECT_TRUE(m.at(1799).empty());
  EXPECT_EQ(m.at(1800).size(), 1U);
}

TEST(StateMachine, OneOfSeveralDownHasNoBreakWhileTheyTakeTurns) {
  Machine m({rule({State::Running}, {Condition::Kind::Down, {"a", "b"}, 300ms}, State::Degraded)});
  m.start(10);
  m.process("a", Unit::Down, 1000);
  m.process("b", Unit::Down, 1100);
  m.process("a", Unit::Up, 1200);
  const auto changes = m.at(1300);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].reason, "b is down for 300 ms");
}

TEST(StateMachine, StartingIsNotDown) {
  Machine m({rule({State::Starting, State::Running}, down("a"), State::Degraded)});
  EXPECT_TRUE(m.at(60'000).empty());
  m.process("a", Unit::Down, 60'001);
  EXPECT_EQ(m.at(60'001).size(), 1U) << "but a process that ended before it was up is";
}

TEST(StateMachine, UpNeedsAllOfThem) {
  Machine m({rule({State::Running}, down("a"), State::Degraded),
             rule({State::Degraded}, up({"a", "b1"}, 50ms), State::Running)});
  m.start(10);
  m.process("a", Unit::Down, 100);
  m.process("b", Unit::Down, 101);
  EXPECT_EQ(m.at(101).size(), 1U);
  m.process("a", Unit::Up, 200);
  EXPECT_TRUE(m.at(1000).empty());
  m.process("b", Unit::Up, 1000);
  EXPECT_EQ(m.next_ms(), 1050);
  const auto changes = m.at(1050);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].reason, "a, b1 are up for 50 ms");
}

TEST(StateMachine, OfSeveralAtOnceTheFirstInTheFileIsTaken) {
  Machine m({rule({State::Running}, down("b"), State::SafeStop), rule({State::Running}, down("a"), State::Degraded)});
  m.start(10);
  m.process("a", Unit::Down, 100);
  m.process("b", Unit::Down, 100);
  ASSERT_EQ(m.at(100).size(), 1U);
  EXPECT_EQ(m.machine.state(), State::SafeStop);
}

TEST(StateMachine, TheEarlierDueIsTakenHoweverLateSomebodyLooks) {
  Machine m({rule({State::Running, State::Degraded}, down("a", 2000ms), State::SafeStop),
             rule({State::Running}, down("a", 300ms), State::Degraded)});
  m.start(10);
  m.process("a", Unit::Down, 1000);
  const auto changes = m.at(9000);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].to, State::Degraded);
  EXPECT_EQ(changes[0].at_ns, 1300 * kMillisecond);
  EXPECT_EQ(changes[1].to, State::SafeStop);
  EXPECT_EQ(changes[1].at_ns, 3000 * kMillisecond);
}

TEST(StateMachine, ConditionsThatHeldBeforeCountFromTheirBeginning) {
  Machine m(
      {rule({State::Running}, down("b"), State::Degraded), rule({State::Degraded}, down("a", 300ms), State::SafeStop)});
  m.start(10);
  m.process("a", Unit::Down, 1000);
  m.process("b", Unit::Down, 2000);
  const auto changes = m.at(2000);
  ASSERT_EQ(changes.size(), 2U) << "a was down for long enough already";
  EXPECT_EQ(changes[1].at_ns, 2000 * kMillisecond) << "but not before the state was entered";
}

TEST(StateMachine, ACircleOnOneConditionEndsWhereTheConditionLeads) {
  Machine m({rule({State::Running}, up({"a"}), State::Degraded), rule({State::Degraded}, up({"a"}), State::Running)});
  m.start(10);
  EXPECT_EQ(m.machine.state(), State::Degraded) << "its cause still holds, so nothing leads back";
  EXPECT_EQ(m.next_ms(), -1) << "no busy loop";
}

TEST(StateMachine, GivenUp) {
  Machine m({rule({State::Running, State::Degraded}, {Condition::Kind::GivenUp, {"a"}, 0ms}, State::SafeStop)});
  m.start(10);
  m.process("a", Unit::Down, 100);
  EXPECT_TRUE(m.at(100).empty());
  m.process("a", Unit::GivenUp, 200, "its limit is 5 restarts within 60 s");
  const auto changes = m.at(200);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].reason, "a was given up: its limit is 5 restarts within 60 s");
}

TEST(StateMachine, AProcessThatIsGivenUpDegradesASystemWhoseFileDoesNotSpeakOfIt) {
  Machine running({});
  running.start(10);
  running.process("a", Unit::Down, 100);
  EXPECT_TRUE(running.at(100).empty()) << "its restarts are not used up";
  running.process("a", Unit::GivenUp, 200, "its limit is reached");
  auto changes = running.at(200);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].to, State::Degraded);
  EXPECT_EQ(changes[0].reason, "a was given up: its limit is reached");
  running.process("a", Unit::Up, 300);  // somebody started it again
  changes = running.at(300);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].to, State::Running);

  Machine starting({});
  starting.process("b", Unit::Up, 10);
  starting.process("a", Unit::GivenUp, 20);
  changes = starting.at(20);
  ASSERT_EQ(changes.size(), 1U) << "one that never starts does not leave it in starting";
  EXPECT_EQ(changes[0].from, State::Starting);
  EXPECT_EQ(changes[0].to, State::Degraded);
}

TEST(StateMachine, TheFilesWayBackToRunningDoesNotHideAProcessThatIsGivenUp) {
  // As examples/composition/corner.json: it speaks of a's end and return, and not of b's.
  Machine m(
      {rule({State::Running}, down("a", 300ms), State::Degraded), rule({State::Degraded}, up({"a"}), State::Running)});
  m.start(10);
  m.process("b", Unit::GivenUp, 100, "its limit is reached");
  const auto changes = m.at(100);
  ASSERT_EQ(changes.size(), 1U) << "a is up all the time";
  EXPECT_EQ(changes[0].to, State::Degraded);
  EXPECT_EQ(m.next_ms(), -1);
  EXPECT_TRUE(m.at(5000).empty());
  m.process("a", Unit::Down, 6000);
  m.process("a", Unit::Up, 6500);
  EXPECT_TRUE(m.at(6500).empty()) << "a's return brings back a only";
  m.process("b", Unit::Down, 7000, "an operator restarts it");
  EXPECT_TRUE(m.at(7000).empty()) << "it is not up yet";
  m.process("b", Unit::Up, 8000);
  const auto back = m.at(8100);
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0].to, State::Running);
  EXPECT_EQ(back[0].at_ns, 8000 * kMillisecond);

  // While the file itself had degraded it, too.
  Machine both(
      {rule({State::Running}, down("a"), State::Degraded), rule({State::Degraded}, up({"a"}), State::Running)});
  both.start(10);
  both.process("a", Unit::Down, 100);
  (void)both.at(100);
  both.process("b", Unit::GivenUp, 200);
  EXPECT_TRUE(both.at(200).empty()) << "it is degraded already";
  both.process("a", Unit::Up, 300);
  (void)both.at(300);
  EXPECT_EQ(both.machine.state(), State::Degraded);
}

TEST(StateMachine, AProcessThatAnOperatorKeepsDownIsNotUp) {
  Machine m({});
  m.start(10);
  m.process("b", Unit::Stopped, 100, "an operator stopped it");
  EXPECT_TRUE(m.at(100).empty()) << "and nothing is wrong with the others";
  m.process("b", Unit::GivenUp, 200);
  ASSERT_EQ(m.at(200).size(), 1U);
  m.process("b", Unit::Stopped, 300, "an operator stopped it");
  EXPECT_TRUE(m.at(300).empty()) << "still degraded";
  m.process("b", Unit::Up, 400);
  ASSERT_EQ(m.at(400).size(), 1U);
  EXPECT_EQ(m.machine.state(), State::Running);

  Machine starting({});
  starting.process("a", Unit::Up, 10);
  starting.process("b", Unit::Stopped, 20, "an operator stopped it");
  EXPECT_TRUE(starting.at(20).empty()) << "it hung in on_start";
}

TEST(StateMachine, OnlyTheFileDecidesWhatFollowsAnEnd) {
  // It waits for 10 s on purpose, and speaks of a's component only, while the system runs.
  Machine m({rule({State::Running}, down("a1", 10'000ms), State::SafeStop)});
  m.start(10);
  m.process("a", Unit::GivenUp, 100);
  EXPECT_TRUE(m.at(9'000).empty()) << "not degraded meanwhile";
  EXPECT_EQ(m.next_ms(), 10'100);
  m.process("b", Unit::GivenUp, 9'500);
  const auto changes = m.at(9'500);
  ASSERT_EQ(changes.size(), 1U) << "it does not speak of b";
  EXPECT_EQ(changes[0].to, State::Degraded);

  Machine starting({rule({State::Running}, down("a"), State::SafeStop)});
  starting.process("a", Unit::GivenUp, 100);
  EXPECT_EQ(starting.at(100).size(), 1U) << "nor of an end while the system starts";
}

TEST(StateMachine, ADegradedOfTheFileIsLeftByTheFileOnly) {
  Machine m({rule({State::Running}, {Condition::Kind::GivenUp, {"a"}, 0ms}, State::Degraded)});
  m.start(10);
  m.process("a", Unit::GivenUp, 100);
  EXPECT_EQ(m.at(100).size(), 1U);
  m.process("a", Unit::Up, 200);
  EXPECT_TRUE(m.at(200).empty());
}

TEST(StateMachine, AProcessTakesItsComponentsAlong) {
  Machine m({rule({State::Running}, down("a1"), State::Degraded), rule({State::Degraded}, up({"a1"}), State::Running)});
  m.start(10);
  m.process("a", Unit::Down, 100);
  m.at(100);
  EXPECT_EQ(m.machine.state(), State::Degraded);
  m.process("a", Unit::Up, 200);
  m.at(200);
  EXPECT_EQ(m.machine.state(), State::Running);
  m.machine.component("a1", Unit::Down, 300 * kMillisecond, "its library is broken");
  ASSERT_EQ(m.at(300).size(), 1U) << "a component alone can be down too";
}

TEST(StateMachine, SilenceBeginsWithTheLastMessage) {
  Machine m({rule({State::Running}, {Condition::Kind::Silent, {"/x", "/y"}, 500ms}, State::SafeStop)});
  EXPECT_EQ(m.machine.watched_topics(), (std::vector<std::string>{"/x", "/y"}));
  m.published = {{"/x", 900}, {"/y", 800}};
  m.start(100);
  EXPECT_EQ(m.next_ms(), 1300);
  m.published["/y"] = 1290;
  EXPECT_TRUE(m.at(1300).empty()) << "it was published on meanwhile";
  EXPECT_EQ(m.next_ms(), 1400);
  m.published["/y"] = 1395;
  const auto changes = m.at(1401);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].reason, "nothing was published on /x for 500 ms");
}

TEST(StateMachine, NothingIsSilentBeforeTheSystemRan) {
  Machine m({rule({State::Starting, State::Running}, {Condition::Kind::Silent, {"/x"}, 500ms}, State::SafeStop)});
  EXPECT_TRUE(m.at(60'000).empty());
  EXPECT_EQ(m.next_ms(), -1);
  m.start(60'000);
  EXPECT_EQ(m.machine.state(), State::Running);
  EXPECT_EQ(m.next_ms(), 60'500) << "never published: from then on";
  EXPECT_EQ(m.at(60'500).size(), 1U);
}

Condition publishing(std::vector<std::string> topics, std::chrono::milliseconds lasting) {
  return {Condition::Kind::Publishing, std::move(topics), lasting};
}

TEST(StateMachine, TheWayBackWaitsUntilTheSilenceIsOver) {
  Machine m({rule({State::Running}, {Condition::Kind::Silent, {"/x"}, 500ms}, State::SafeStop),
             rule({State::SafeStop}, up({"a"}), State::Running)});
  m.published["/x"] = 100;
  m.start(100);
  ASSERT_EQ(m.at(600).size(), 1U);
  EXPECT_EQ(m.machine.state(), State::SafeStop) << "a is up all the time, and /x is still silent";
  EXPECT_EQ(m.next_ms(), 725) << "no event tells of the end of a silence: it looks four times in each for_ms";
  EXPECT_TRUE(m.at(5000).empty());
  m.published["/x"] = 5010;
  const auto changes = m.at(5100);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].to, State::Running);
  EXPECT_EQ(changes[0].at_ns, 5010 * kMillisecond);
  ASSERT_EQ(m.at(5510).size(), 1U) << "silent again";
  EXPECT_EQ(m.machine.state(), State::SafeStop);
}

TEST(StateMachine, ItGoesBackWhenATopicHasBeenPublishedOnForItsTime) {
  Machine m({rule({State::Running}, {Condition::Kind::Silent, {"/x"}, 500ms}, State::SafeStop),
             rule({State::SafeStop}, publishing({"/x", "/y"}, 1000ms), State::Running)});
  EXPECT_EQ(m.machine.watched_topics(), (std::vector<std::string>{"/x", "/y"}));
  m.published = {{"/x", 100}, {"/y", 100}};
  m.start(100);
  ASSERT_EQ(m.at(600).size(), 1U);
  const auto publish = [&](std::int64_t from, std::int64_t to, const char* topic) {
    for (std::int64_t ms = from; ms <= to; ms += 250) {
      m.published[topic] = ms;
      m.published["/y"] = ms;
      EXPECT_TRUE(m.at(ms + 1).empty()) << ms;
    }
  };
  publish(10'000, 10'500, "/x");
  EXPECT_TRUE(m.at(11'600).empty()) << "/x paused for longer than 1 s";
  publish(20'000, 20'750, "/x");
  m.published = {{"/x", 21'000}, {"/y", 21'000}};
  const auto changes = m.at(21'001);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].to, State::Running);
  EXPECT_EQ(changes[0].at_ns, 21'000 * kMillisecond);
  EXPECT_EQ(changes[0].reason, "messages have come on /x, /y for 1000 ms");
}

TEST(StateMachine, ATopicThatWasSilentForLongDoesNotCount) {
  Machine m({rule({State::Running}, {Condition::Kind::Silent, {"/x"}, 500ms}, State::SafeStop),
             rule({State::SafeStop}, publishing({"/x"}, 1000ms), State::Running)});
  m.published["/x"] = 100;
  m.start(100);
  ASSERT_EQ(m.at(600).size(), 1U);
  m.published["/x"] = 5000;
  EXPECT_TRUE(m.at(5001).empty());
  EXPECT_TRUE(m.at(5999).empty());
  EXPECT_TRUE(m.at(6001).empty()) << "one message, then silence";
}

TEST(StateMachine, WithOtherRulesTheStateAndItsCauseStay) {
  const auto silent = rule({State::Running}, {Condition::Kind::Silent, {"/x"}, 500ms}, State::SafeStop);
  const auto back = rule({State::SafeStop}, up({"a"}), State::Running);
  Machine m({silent, back});
  m.published["/x"] = 100;
  m.start(100);
  ASSERT_EQ(m.at(600).size(), 1U);
  StateMachine same = resumed(m, {back, silent, rule({State::Running}, down("b"), State::Degraded)}, 700);
  EXPECT_TRUE(same.advance(800 * kMillisecond).empty()) << "/x is still silent";
  StateMachine without = resumed(m, {back}, 700);
  ASSERT_EQ(without.advance(800 * kMillisecond).size(), 1U) << "nothing speaks of /x any more";
  EXPECT_EQ(without.state(), State::Running);
  m.published["/x"] = 900;
  ASSERT_EQ(same.advance(901 * kMillisecond).size(), 1U);
  EXPECT_EQ(same.state(), State::Running);
}

TEST(StateMachine, ATopicThatIsNewInTheRulesIsNotSilentBeforeItCouldBeHeard) {
  const auto silent = [](const char* topic) {
    return rule({State::Running}, {Condition::Kind::Silent, {topic}, 500ms}, State::SafeStop);
  };
  Machine m({silent("/x")});
  m.start(100);
  m.published["/x"] = 900;
  StateMachine next = resumed(m, {silent("/x"), silent("/new")}, 1000);
  EXPECT_TRUE(next.advance(1399 * kMillisecond).empty());
  ASSERT_EQ(next.advance(1400 * kMillisecond).size(), 1U) << "/x was watched before";
  m.published["/x"] = 1400;
  StateMachine other = resumed(m, {silent("/new")}, 1000);
  StateMachine last(two({silent("/new")}), 1200 * kMillisecond,
                    [&m](const std::string& topic) { return m.published[topic] * kMillisecond; });
  last.resume(other, 1200 * kMillisecond);
  EXPECT_TRUE(last.advance(1499 * kMillisecond).empty());
  EXPECT_EQ(last.advance(1500 * kMillisecond).size(), 1U) << "since the first plan that watches it";
}

TEST(StateMachine, ProcessesOfOtherRulesAreAsTheyWere) {
  Machine m({});
  m.start(100);
  m.process("a", Unit::Down, 150);
  StateMachine next = resumed(m, {rule({State::Running}, down("a1", 300ms), State::Degraded)}, 200);
  EXPECT_TRUE(next.advance(499 * kMillisecond).empty());
  EXPECT_EQ(next.advance(500 * kMillisecond).size(), 1U) << "for 300 ms since the rule is there";
}

TEST(StateMachine, StoppedIsTheEnd) {
  Machine m({rule({State::Running, State::Stopped}, down("a"), State::Degraded)});
  m.start(10);
  const auto change = m.machine.stop(50 * kMillisecond, "Ctrl-C");
  EXPECT_EQ(change.from, State::Running);
  EXPECT_EQ(change.to, State::Stopped);
  m.process("a", Unit::Down, 100);
  EXPECT_TRUE(m.at(1000).empty());
  EXPECT_EQ(m.next_ms(), -1);
}

}  // namespace
}  // namespace cardan::launcher
