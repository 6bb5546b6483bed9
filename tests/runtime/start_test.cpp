// SPDX-License-Identifier: Apache-2.0
// Processes that do not start: the report, and the state of the system.
#include <gtest/gtest.h>

#include <fstream>

#include "cardan/cardan.hpp"
#include "tests/runtime/fake_host.hpp"

namespace cardan::launcher {
namespace {

using namespace std::chrono_literals;
using config::State;

class Start : public LauncherTest {};

TEST_F(Start, AProcessThatIsGivenUpLeavesTheSystemDegraded) {
  config::Process bad = fake("bad", "fails");
  bad.restart.limit = 1;
  Launch run(file_of({fake("good", "steady"), bad}), folder_);
  run.stop_in = State::Degraded;
  run.options.duration = 60s;
  EXPECT_EQ(run.run(), 1) << run.all();
  EXPECT_EQ(run.states(), (std::vector{State::Starting, State::Degraded, State::Stopped})) << run.all();
  EXPECT_EQ(run.supervisor->changes()[1].reason,
            "bad was given up: it ended with exit code 3, and its limit is 1 restart within 60 s");
  EXPECT_EQ(run.supervisor->processes()[0].phase, Phase::Stopped) << "the other one continued";
}

TEST_F(Start, AComponentThatHangsInOnStartIsReported) {
  Launch run(file_of({fake("perception", "hangs in start"), fake("good", "steady")}), folder_);
  run.options.slow_start = 20ms;
  run.options.duration = 60s;
  int times = 0;
  bool good_is_up = false;
  run.on_line = [&](const Launch::Line& line) {
    const bool of_good = line.text.starts_with("good (pid");
    EXPECT_FALSE(good_is_up && of_good && line.text.find("has not started") != std::string::npos) << line.text;
    good_is_up = good_is_up || (of_good && line.text.find(" runs after ") != std::string::npos);
    if (line.text.find(" s: component 'camera' is in on_start") != std::string::npos && ++times == 2)
      run.supervisor->stop();
  };
  EXPECT_EQ(run.run(), 0) << run.all();
  EXPECT_EQ(times, 2) << "and again after twice the time\n" << run.all();
  EXPECT_TRUE(run.said("perception (pid ")) << run.all();
  EXPECT_EQ(run.states(), (std::vector{State::Starting, State::Stopped}));
}

TEST_F(Start, AFailureThatCannotChangeIsNotTriedAgain) {
  Launch run(file_of({fake("p", "is refused")}), folder_);
  EXPECT_EQ(run.run(), 1) << run.all();
  const ProcessStatus& status = run.supervisor->processes()[0];
  EXPECT_EQ(status.restarts, 0U) << run.all();
  EXPECT_EQ(status.phase, Phase::GivenUp);
  ASSERT_EQ(status.outages.size(), 1U);
  EXPECT_EQ(status.outages[0].cause,
            "ended with exit code 1: component 'camera' did not start: there is no such thing");
  EXPECT_TRUE(
      run.said("p is given up: a restart cannot change that; the last time it ended with exit code 1: "
               "component 'camera' did not start: there is no such thing"))
      << run.all();
}

TEST_F(Start, ARefusalDuringARestartIsTriedAgain) {
  Launch run(file_of({fake("p", "is refused once later")}), folder_);
  run.options.duration = 60s;
  int times = 0;
  run.on_line = [&](const Launch::Line& line) {
    if (line.text.find("→ running") != std::string::npos) std::ofstream(folder_ + "/go");
    if (line.text.find("runs again") != std::string::npos && ++times == 1) run.supervisor->stop();
  };
  EXPECT_EQ(run.run(), 0) << "a library that is being replaced, or no memory: it passes\n" << run.all();
  EXPECT_EQ(times, 1) << run.all();
  EXPECT_EQ(run.supervisor->processes()[0].restarts, 2U) << run.all();
}

TEST_F(Start, AFailureThatMayChangeIsTriedAgainAndGivenUpWithItsReason) {
  config::Process p = fake("p", "cannot start");
  p.restart.limit = 2;
  Launch run(file_of({p}), folder_);
  EXPECT_EQ(run.run(), 1) << run.all();
  EXPECT_EQ(run.supervisor->processes()[0].restarts, 2U);
  EXPECT_TRUE(
      run.said("p is given up: its limit is 2 restarts within 60 s; the last time it ended with exit code 1: "
               "component 'camera' did not start: there is no such thing"))
      << run.all();
}

TEST_F(Start, TheProcessIsShownByItsName) {
  Launch run(file_of({fake("perception", "steady")}), folder_);
  std::string shown;
  run.on_line = [&](const Launch::Line& line) {
    if (line.text.find("→ running") == std::string::npos) return;
    std::ifstream words("/proc/" + std::to_string(run.supervisor->processes()[0].pid) + "/cmdline");
    std::getline(words, shown, '\0');
    run.supervisor->stop();
  };
  EXPECT_EQ(run.run(), 0) << run.all();
  EXPECT_EQ(shown, "cardan:perception");
}

}  // namespace
}  // namespace cardan::launcher
