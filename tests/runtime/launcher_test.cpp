// SPDX-License-Identifier: Apache-2.0
// The launcher with real processes that crash, hang, talk and end.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "cardan/cardan.hpp"
#include "tests/runtime/fake_host.hpp"
#include "tests/support/child.hpp"
#include "tests/support/sanitizer.hpp"

namespace cardan::launcher {
namespace {

using namespace std::chrono_literals;
using config::Condition;
using config::State;
using Launcher = LauncherTest;

std::string contents(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

/// Gone, or only waiting for init to collect it.
bool is_gone(pid_t pid) {
  const std::string stat = contents("/proc/" + std::to_string(pid) + "/stat");
  const auto end = stat.rfind(')');
  return end == std::string::npos || stat.compare(end + 2, 1, "Z") == 0 || stat.compare(end + 2, 1, "X") == 0;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

TEST_F(Launcher, StopsInTheReverseOrderOfTheStart) {
  Launch run(file_of({fake("a", "steady"), fake("b", "steady"), fake("c", "steady")}), folder_);
  run.stop_in = State::Running;
  EXPECT_EQ(run.run(), 0) << run.all();
  std::vector<std::string> ends;
  for (const auto& line : run.lines)
    if (line.text.starts_with("ends ")) ends.push_back(line.text.substr(5));
  EXPECT_EQ(ends, (std::vector<std::string>{"c", "b", "a"}));
  EXPECT_EQ(run.states(), (std::vector{State::Starting, State::Running, State::Stopped}));
  for (const auto& process : run.supervisor->processes()) {
    EXPECT_EQ(process.phase, Phase::Stopped);
    EXPECT_TRUE(process.outages.empty());
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/out")) << "no crash, no report";
}

TEST_F(Launcher, EndsByItselfWhenAllHaveEndedInOrder) {
  Launch run(file_of({fake("a", "finishes"), fake("b", "finishes")}), folder_);
  EXPECT_EQ(run.run(), 0) << run.all();
  EXPECT_EQ(run.supervisor->processes()[0].phase, Phase::Finished);
}

TEST_F(Launcher, EndsAfterTheTimeGiven) {
  Launch run(file_of({fake("a", "steady")}), folder_);
  run.options.duration = 300ms;
  EXPECT_EQ(run.run(), 0) << run.all();
  EXPECT_EQ(run.states().back(), State::Stopped);
}

TEST_F(Launcher, ACrashIsRestartedWithBackOffUntilItIsGivenUp) {
  config::Process bad = fake("bad", "crashes");
  bad.restart = {.limit = 3, .window = 1h, .backoff = 10ms, .backoff_max = 20ms};
  Launch run(file_of({bad}), folder_);
  EXPECT_EQ(run.run(), 1) << run.all();
  const ProcessStatus& status = run.supervisor->processes()[0];
  EXPECT_EQ(status.phase, Phase::GivenUp);
  EXPECT_EQ(status.restarts, 3U);
  ASSERT_EQ(status.outages.size(), 4U);
  const std::int64_t back_off[] = {10'000'000, 20'000'000, 20'000'000};
  for (std::size_t i = 0; i < 3; ++i) {
    const Outage& outage = status.outages[i];
    EXPECT_GE(outage.started_ns - outage.noticed_ns, back_off[i]);
    EXPECT_GT(outage.ready_ns, outage.started_ns) << "it ran again";
    EXPECT_EQ(outage.cause, "died by signal 11 (Segmentation fault)");
    const std::string report = contents(outage.report);
    EXPECT_NE(report.find("callback: /fake"), std::string::npos) << "what the process wrote\n" << report;
    EXPECT_NE(report.find("  about to crash"), std::string::npos) << "its last lines\n" << report;
    EXPECT_NE(report.find("died by signal 11"), std::string::npos) << report;
    EXPECT_NE(report.find("restarts  " + std::to_string(i) + " before"), std::string::npos) << report;
  }
  EXPECT_EQ(status.outages[3].started_ns, 0) << "the last one was not followed by a start";
  EXPECT_TRUE(run.said("bad is given up: its limit is 3 restarts within 3600 s"));
}

TEST_F(Launcher, ExceptionsAreCountedNamedAndChangeTheExitCode) {
  config::Process p = fake("p", "throws");
  p.components.push_back({.name = "camera"});
  Launch run(file_of({p}), folder_);
  EXPECT_EQ(run.run(), 3) << run.all();
  EXPECT_EQ(run.supervisor->processes()[0].exceptions, (std::map<std::string, std::uint64_t>{{"camera", 5}}))
      << "of both runs";
  EXPECT_TRUE(run.said("camera (p): 5 exceptions left its callbacks")) << run.all();
}

TEST_F(Launcher, LateChainsAreCountedAndReported) {
  config::Process p = fake("p", "tells of chains");
  p.components.push_back({.name = "camera"});
  config::Configuration file = file_of({p});
  file.chains = {{.name = "brake", .from = "/camera/front", .to = "/command", .budget = 60ms},
                 {.name = "free", .from = "/camera/front", .to = "/command"}};
  Launch run(std::move(file), folder_);
  EXPECT_EQ(run.run(), 0) << "late chains do not change it\n" << run.all();
  ASSERT_EQ(run.supervisor->chains().size(), 1U);
  const ChainStatus& brake = run.supervisor->chains().at("brake");
  EXPECT_EQ(brake.publications, 13U);
  EXPECT_EQ(brake.unknown, 1U);
  EXPECT_EQ(brake.late, 3U);
  EXPECT_TRUE(
      run.said("chain 'brake': 71.3 ms from /camera/front to /command, 60 ms allowed; camera took longest "
               "(41.0 ms); 2 publications were late"))
      << run.all();
  ASSERT_EQ(run.supervisor->late_chains().size(), 1U) << "one line in ten seconds";
  EXPECT_EQ(run.supervisor->late_chains()[0].component, "camera");
  EXPECT_EQ(run.supervisor->late_chains()[0].times, 2U);
  EXPECT_TRUE(run.said("chain 'brake': 3 of 13 publications on /command were late (60 ms allowed from /camera/front)"))
      << run.all();
}

TEST_F(Launcher, AnExitCodeIsACrashToo) {
  config::Process bad = fake("bad", "fails");
  bad.restart.when = config::RestartWhen::Never;
  Launch run(file_of({bad, fake("good", "finishes")}), folder_);
  EXPECT_EQ(run.run(), 1) << run.all();
  EXPECT_EQ(run.supervisor->processes()[0].outages.at(0).cause, "ended with exit code 3");
  EXPECT_EQ(run.supervisor->processes()[1].phase, Phase::Finished) << "the others continue";
}

TEST_F(Launcher, AnExitThatNobodyAskedForIsACrash) {
  config::Process p = fake("p", "exits");
  p.restart = {.limit = 1, .window = 1h, .backoff = 0ms};
  Launch run(file_of({p}), folder_);
  EXPECT_EQ(run.run(), 1) << run.all();
  const ProcessStatus& status = run.supervisor->processes()[0];
  EXPECT_EQ(status.restarts, 1U);
  EXPECT_EQ(status.outages.at(0).cause, "called exit(0), which nobody asked for");
  EXPECT_FALSE(status.outages.at(0).report.empty());
}

TEST_F(Launcher, AProcessThatASignalStopsIsEndedByItsWatchdog) {
  config::Process p = fake("p", "freezes once");
  p.components = {{.name = "c", .watchdog = 50ms}};
  p.restart = {.limit = 5, .window = 1h, .backoff = 0ms};
  Launch run(file_of({p, fake("other", "steady")}), folder_);
  run.on_line = [&](const Launch::Line& line) {
    if (line.text.starts_with("p (pid") && line.text.find("runs again") != std::string::npos) run.supervisor->stop();
  };
  EXPECT_EQ(run.run(), 0) << run.all();
  EXPECT_EQ(run.supervisor->processes()[0].outages.at(0).cause,
            "was killed, because a signal (SIGSTOP) kept it from running for longer than its watchdog_ms");
}

TEST_F(Launcher, AFloodOfLinesIsCutAndCounted) {
  Launch run(file_of({fake("p", "floods")}), folder_);
  EXPECT_EQ(run.run(), 0) << run.all().substr(0, 10'000);
  EXPECT_LT(run.all().size(), 5'000'000U) << "of 10 MB";
  EXPECT_TRUE(run.said("are left out of the log: it writes more than 1000 lines or 256 KiB a second"));
}

TEST_F(Launcher, AFloodOfOneComponentLeavesTheLinesOfOthers) {
  config::Process p = fake("p", "one component floods");
  p.components = {{.name = "loud"}, {.name = "quiet"}};
  Launch run(file_of({p}), folder_);
  int quiet = 0;
  run.on_line = [&](const Launch::Line& line) { quiet += line.text == "quiet: its line" ? 1 : 0; };
  EXPECT_EQ(run.run(), 0) << run.all().substr(0, 10'000);
  EXPECT_EQ(quiet, 100);
  EXPECT_TRUE(run.said("p/loud: "));
  EXPECT_TRUE(run.said("are left out of the log: it writes more than 1000 lines or 256 KiB a second"));
  EXPECT_LT(run.all().size(), 5'000'000U) << "of 10 MB";
}

TEST_F(Launcher, AlwaysRestartsWhatEndedInOrder) {
  config::Process p = fake("p", "finishes");
  p.restart = {.when = config::RestartWhen::Always, .limit = 2, .window = 1h, .backoff = 0ms};
  Launch run(file_of({p}), folder_);
  EXPECT_EQ(run.run(), 1) << run.all();
  EXPECT_EQ(run.supervisor->processes()[0].restarts, 2U);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/out")) << "an orderly end is not a crash";
}

TEST_F(Launcher, AProgramThatIsNotThere) {
  config::Process p = fake("p", "steady");
  p.restart = {.limit = 1, .window = 1h, .backoff = 1ms};
  Launch run(file_of({p}), folder_);
  run.options.host_command = {"/nowhere/cardan"};
  EXPECT_EQ(run.run(), 1) << run.all();
  EXPECT_TRUE(run.said("could not be started: cannot run /nowhere/cardan: No such file or directory")) << run.all();
}

TEST_F(Launcher, AProcessThatIgnoresSigtermIsKilledAfterTheGracePeriod) {
  Launch run(file_of({fake("stubborn", "stubborn"), fake("good", "steady")}), folder_);
  run.stop_in = State::Running;
  run.options.grace = 300ms;
  EXPECT_EQ(run.run(), 1) << run.all();
  EXPECT_TRUE(run.supervisor->processes()[0].killed);
  EXPECT_TRUE(run.said("did not end within 0.3 s after SIGTERM, and is killed")) << run.all();
  EXPECT_FALSE(run.supervisor->processes()[1].killed) << run.all();
}

TEST_F(Launcher, ASecondStopEndsAllAtOnce) {
  Launch run(file_of({fake("a", "stubborn"), fake("b", "stubborn")}), folder_);
  run.stop_in = State::Running;
  run.options.grace = 1h;
  run.on_line = [&](const Launch::Line& line) {
    if (line.text.starts_with("stopping: ")) run.supervisor->stop();
  };
  EXPECT_EQ(run.run(), 1) << run.all();
  EXPECT_TRUE(run.supervisor->processes()[0].killed);
  EXPECT_TRUE(run.supervisor->processes()[1].killed);
}

TEST_F(Launcher, AStopWhileWaitingForARestartEndsInOrder) {
  config::Process bad = fake("bad", "crashes");
  bad.restart.backoff = bad.restart.backoff_max = 1h;
  Launch run(file_of({bad}), folder_);
  run.on_line = [&](const Launch::Line& line) {
    if (line.text.find("is restarted in") != std::string::npos) run.supervisor->stop();
  };
  EXPECT_EQ(run.run(), 0) << run.all();
}

TEST_F(Launcher, LinesOfSeveralProcessesAreMergedAndNotTorn) {
  Launch run(file_of({fake("a", "writes"), fake("b", "writes"), fake("c", "writes")}), folder_);
  EXPECT_EQ(run.run(), 0);
  std::map<std::string, int> next;
  for (const auto& line : run.lines) {
    if (line.source == LogLine::Source::Launcher) continue;
    const int i = next[line.name]++;
    const std::string expected =
        i == 2000 ? line.name + " end"
                  : line.name + " " + std::to_string(i) + " " + std::string(static_cast<unsigned>(i) % 97U, '.');
    ASSERT_EQ(line.text, expected);
  }
  EXPECT_EQ(next, (std::map<std::string, int>{{"a", 2001}, {"b", 2001}, {"c", 2001}}));
}

TEST_F(Launcher, ProcessesGetTheirEnvironmentAndNoDescriptorsButTheirOwn) {
  const Fd leaky{::fcntl(STDERR_FILENO, F_DUPFD, 30)};  // without O_CLOEXEC
  ASSERT_GE(leaky.get(), 30);
  config::Configuration file = file_of({fake("a", "shows itself", {{"FAKE_WORD", "one = two"}})});
  file.domain = "elsewhere";
  Launch run(file, folder_);
  EXPECT_EQ(run.run(), 0);
  EXPECT_TRUE(run.said("word one = two")) << run.all();
  EXPECT_TRUE(run.said("domain elsewhere")) << run.all();
  bool open = false;
  for (const auto& line : run.lines) open = open || line.text == "open 0 1 2 3 4 5";
  EXPECT_TRUE(open) << run.all();
  EXPECT_TRUE(run.said("group 1")) << run.all();
  EXPECT_TRUE(run.said("pipe 1")) << run.all();
}

TEST_F(Launcher, AMemoryLimitIsKept) {
  if (test::kSanitized) GTEST_SKIP() << "a sanitizer needs more than any limit";
  config::Process p = fake("p", "takes memory");
  p.memory_bytes = std::uint64_t{1} << 30U;
  Launch run(file_of({p}), folder_);
  EXPECT_EQ(run.run(), 0) << run.all();
  EXPECT_TRUE(run.said("refused")) << run.all();
  EXPECT_TRUE(run.said("1024 MiB of private memory")) << run.all();
}

TEST_F(Launcher, ChildrenOfAProcessEndWithIt) {
  Launch run(file_of({fake("p", "leaves a child")}), folder_);
  EXPECT_EQ(run.run(), 0) << run.all();
  pid_t child = 0;
  for (const auto& line : run.lines)
    if (line.text.starts_with("child ")) child = std::stoi(line.text.substr(6));
  ASSERT_GT(child, 0) << run.all();
  EXPECT_TRUE(test::eventually([&] { return is_gone(child); }));
}

TEST_F(Launcher, AReportThatCannotBeWrittenIsReportedAndChangesNothingElse) {
  Launch run(file_of({fake("bad", "crashes")}), folder_);
  run.options.reports = "/proc/nowhere";
  EXPECT_EQ(run.run(), 1);
  EXPECT_TRUE(run.said("cannot write the crash report /proc/nowhere/crash-bad-")) << run.all();
  EXPECT_EQ(run.supervisor->processes()[0].restarts, 5U);
}

TEST_F(Launcher, ACrashChangesTheStateAndComingBackDoesToo) {
  config::Configuration file = file_of({fake("a", "steady"), fake("b", "crashes once")});
  file.processes[1].restart.backoff = 100ms;
  file.transitions = {{.from = {State::Running}, .when = {Condition::Kind::Down, {"b"}, 20ms}, .to = State::Degraded},
                      {.from = {State::Degraded}, .when = {Condition::Kind::Up, {"b"}, 0ms}, .to = State::Running}};
  Launch run(file, folder_);
  int times_running = 0;
  run.on_line = [&](const Launch::Line& line) {
    if (line.text.find("→ running") == std::string::npos) return;
    if (++times_running == 1) std::ofstream(folder_ + "/go");
    if (times_running == 2) run.supervisor->stop();
  };
  EXPECT_EQ(run.run(), 0) << run.all();
  ASSERT_EQ(run.states(),
            (std::vector{State::Starting, State::Running, State::Degraded, State::Running, State::Stopped}))
      << run.all();
  const auto& changes = run.supervisor->changes();
  EXPECT_EQ(changes[2].reason, "b is down for 20 ms: it died by signal 11 (Segmentation fault)");
  const Outage& outage = run.supervisor->processes()[1].outages.at(0);
  EXPECT_EQ(changes[2].at_ns - outage.noticed_ns >= 20'000'000, true);

  const std::int64_t crashed = std::stoll(contents(folder_ + "/crashed-b"));
  EXPECT_GT(outage.noticed_ns, crashed);
  std::printf("crash noticed after %.2f ms; running %.1f ms after that: 100 ms back-off, %.1f ms its own start-up\n",
              static_cast<double>(outage.noticed_ns - crashed) / 1e6,
              static_cast<double>(outage.ready_ns - outage.noticed_ns) / 1e6,
              static_cast<double>(outage.ready_ns - outage.started_ns) / 1e6);

  // A late one gets all of them.
  Subscriber late{kSystemState, {.holds = 2}};
  for (const auto& change : changes) {
    const auto sample = late.wait(10s);
    ASSERT_TRUE(sample);
    EXPECT_EQ(sample->state, change.to);
    EXPECT_EQ(sample->previous, change.from);
    EXPECT_EQ(sample->since_ns, change.at_ns);
    EXPECT_EQ(sample->reason.view(), change.reason);
    EXPECT_EQ(sample->system.view(), "test");
  }
}

TEST_F(Launcher, ATopicThatFallsSilentIsSeenWithoutDisturbing) {
  config::Configuration file = file_of({fake("beats", "beats")});
  file.transitions = {
      {.from = {State::Running}, .when = {Condition::Kind::Silent, {kBeats.name}, 2s}, .to = State::SafeStop}};
  Launch run(file, folder_);
  run.stop_in = State::SafeStop;
  EXPECT_EQ(run.run(), 0) << run.all();
  ASSERT_EQ(run.states(), (std::vector{State::Starting, State::Running, State::SafeStop, State::Stopped})) << run.all();
  EXPECT_EQ(run.supervisor->changes()[2].reason, "nothing was published on /fake/beats for 2000 ms");
  std::int64_t last = 0;
  for (const auto& line : run.lines)
    if (line.text.starts_with("last ")) last = std::stoll(line.text.substr(5));
  ASSERT_GT(last, 0) << "it was published on until then\n" << run.all();
  EXPECT_GT(run.supervisor->changes()[2].at_ns, last);
}

TEST_F(Launcher, ATransitionToStoppedStops) {
  config::Configuration file = file_of({fake("a", "steady"), fake("bad", "crashes")});
  file.transitions = {{.from = {State::Starting, State::Running},
                       .when = {Condition::Kind::GivenUp, {"bad"}, 0ms},
                       .to = State::Stopped}};
  Launch run(file, folder_);
  EXPECT_EQ(run.run(), 1) << run.all();
  EXPECT_EQ(run.supervisor->processes()[0].phase, Phase::Stopped);
}

TEST_F(Launcher, NothingIsLeftOpen) {
  const auto once = [this] {
    Launch run(file_of({fake("bad", "crashes"), fake("good", "finishes")}), folder_);
    EXPECT_EQ(run.run(), 1);
  };
  once();  // the transport's own descriptors stay until exit
  const std::size_t before = open_descriptors();
  once();
  EXPECT_EQ(open_descriptors(), before);
}

Supervisor* told_by_signals = nullptr;

CARDAN_ROLE(launcher) {
  Launch run(file_of({fake("a", "steady"), fake("b", args.at(1))}), args.at(0));
  run.options.grace = std::chrono::milliseconds(std::stoi(args.at(2)));
  std::signal(SIGINT, [](int) { told_by_signals->stop(); });
  run.on_line = [&](const Launch::Line& line) {
    told_by_signals = run.supervisor.get();
    if (line.text.find("→ running") != std::string::npos)
      for (const auto& process : run.supervisor->processes()) test::say("pid " + std::to_string(process.pid));
    if (line.text.starts_with("stopping: ")) test::say("stopping");
  };
  return run.run();
}

TEST_F(Launcher, WhenItIsKilledItsProcessesEndToo) {
  test::Child launcher("launcher", {folder_, "stubborn", "1000"});
  const pid_t a = std::stoi(launcher.expect("pid"));
  const pid_t b = std::stoi(launcher.expect("pid"));
  EXPECT_FALSE(is_gone(a));
  EXPECT_FALSE(is_gone(b));
  launcher.kill();
  EXPECT_TRUE(test::eventually([&] { return is_gone(a) && is_gone(b); }));
}

TEST_F(Launcher, CtrlCEndsInOrder) {
  test::Child launcher("launcher", {folder_, "steady", "60000"});
  launcher.expect("pid");
  launcher.expect("pid");
  launcher.signal(SIGINT);
  EXPECT_EQ(launcher.end(), 0);
}

TEST_F(Launcher, ASecondCtrlCEndsAtOnce) {
  test::Child launcher("launcher", {folder_, "stubborn", "3600000"});
  const pid_t a = std::stoi(launcher.expect("pid"));
  const pid_t b = std::stoi(launcher.expect("pid"));
  launcher.signal(SIGINT);
  launcher.expect("stopping");
  launcher.signal(SIGINT);
  EXPECT_EQ(launcher.end(), 1);
  EXPECT_TRUE(is_gone(a));
  EXPECT_TRUE(is_gone(b));
}

}  // namespace
}  // namespace cardan::launcher
