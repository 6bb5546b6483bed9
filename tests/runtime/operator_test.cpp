// SPDX-License-Identifier: Apache-2.0
// Orders of operators to a launcher that runs.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>
#include <utility>

#include "cardan/cardan.hpp"
#include "src/system/host/control_client.hpp"
#include "src/system/host/control_message.hpp"
#include "src/system/launcher/launcher_control.hpp"
#include "tests/runtime/fake_host.hpp"
#include "tests/support/child.hpp"

namespace cardan::launcher {
namespace {

using namespace std::chrono_literals;
using config::State;

class Operator : public LauncherTest {};

TEST_F(Operator, StopsAProcessAndStartsItAgainWhileTheOthersContinue) {
  Launch run(file_of({fake("a", "steady"), fake("b", "steady")}), folder_);
  run.options.duration = 60s;
  std::future<OrderAnswer> stopped;
  std::future<OrderAnswer> restarted;
  pid_t of_a = 0;
  run.on_line = [&](const Launch::Line& line) {
    if (has(line.text, "→ running")) {
      of_a = run.supervisor->processes()[0].pid;
      stopped = run.supervisor->order({.what = Order::What::Stop, .process = "b"});
    }
    if (has(line.text, "b is stopped"))
      restarted = run.supervisor->order({.what = Order::What::Restart, .process = "b"});
    if (has(line.text, "runs again")) {
      EXPECT_EQ(run.supervisor->processes()[0].pid, of_a);
      run.supervisor->stop();
    }
  };
  EXPECT_EQ(run.run(), 0) << run.all();
  ASSERT_TRUE(stopped.valid() && restarted.valid()) << run.all();
  const OrderAnswer down = stopped.get();
  EXPECT_FALSE(down.error) << down.error->what();
  EXPECT_EQ(down.processes.at(1).phase, Phase::Stopped);
  EXPECT_EQ(down.processes.at(1).pid, 0);
  const OrderAnswer up = restarted.get();
  EXPECT_FALSE(up.error) << up.error->what();
  EXPECT_EQ(up.processes.at(1).phase, Phase::Running);
  EXPECT_NE(up.processes.at(1).pid, 0);
  EXPECT_EQ(run.supervisor->processes()[1].restarts, 0U) << "its rule's restarts are not used up by it";
}

TEST_F(Operator, BringsBackAProcessThatWasGivenUp) {
  config::Process bad = fake("bad", "crashes once");
  bad.restart.limit = 0;
  Launch run(file_of({fake("a", "steady"), bad}), folder_);
  run.options.duration = 60s;
  int times_running = 0;
  run.on_line = [&](const Launch::Line& line) {
    if (has(line.text, "is given up")) (void)run.supervisor->order({.what = Order::What::Restart, .process = "bad"});
    if (!has(line.text, "→ running")) return;
    if (++times_running == 1) std::ofstream(folder_ + "/go");
    if (times_running == 2) run.supervisor->stop();
  };
  EXPECT_EQ(run.run(), 1) << "one was given up\n" << run.all();
  EXPECT_EQ(run.states(),
            (std::vector{State::Starting, State::Running, State::Degraded, State::Running, State::Stopped}))
      << run.all();
}

TEST_F(Operator, StoppingAProcessDoesNotMakeTheSystemWhole) {
  config::Process bad = fake("bad", "fails");
  bad.restart.limit = 0;
  Launch run(file_of({fake("a", "steady"), bad}), folder_);
  run.options.duration = 60s;
  std::future<OrderAnswer> stopped;
  run.on_line = [&](const Launch::Line& line) {
    if (has(line.text, "→ degraded")) stopped = run.supervisor->order({.what = Order::What::Stop, .process = "bad"});
  };
  run.options.on_tick = [&, ticks = 0]() mutable {
    if (run.said("bad is stopped") && ++ticks == 3) run.supervisor->stop();
  };
  run.options.tick = 20ms;
  EXPECT_EQ(run.run(), 1) << "one was given up\n" << run.all();
  EXPECT_TRUE(run.said("bad is stopped")) << run.all();
  EXPECT_EQ(run.states(), (std::vector{State::Starting, State::Degraded, State::Stopped})) << run.all();
}

TEST_F(Operator, StoppingAProcessThatHangsInItsStartDoesNotMakeTheSystemRun) {
  Launch run(file_of({fake("a", "steady"), fake("b", "hangs in start")}), folder_);
  run.options.duration = 60s;
  run.options.slow_start = 20ms;
  run.options.tick = 20ms;
  std::future<OrderAnswer> stopped;
  run.on_line = [&](const Launch::Line& line) {
    if (has(line.text, "component 'camera' is in on_start") && !stopped.valid())
      stopped = run.supervisor->order({.what = Order::What::Stop, .process = "b"});
  };
  run.options.on_tick = [&, ticks = 0]() mutable {
    if (run.said("b is stopped") && ++ticks == 3) run.supervisor->stop();
  };
  EXPECT_EQ(run.run(), 0) << run.all();
  EXPECT_EQ(run.states(), (std::vector{State::Starting, State::Stopped})) << run.all();
}

TEST_F(Operator, KillsAProcessThatDoesNotEndInTheGracePeriod) {
  Launch run(file_of({fake("a", "steady"), fake("b", "stubborn")}), folder_);
  run.options.grace = 50ms;
  run.options.duration = 60s;
  run.on_line = [&](const Launch::Line& line) {
    if (has(line.text, "→ running") && run.supervisor->processes()[1].outages.empty())
      (void)run.supervisor->order({.what = Order::What::Restart, .process = "b"});
    if (has(line.text, "runs again")) run.supervisor->stop();
  };
  EXPECT_EQ(run.run(), 1) << run.all();
  EXPECT_TRUE(run.said("did not end within 0.05 s after SIGTERM")) << run.all();
  ASSERT_FALSE(run.supervisor->processes()[1].outages.empty()) << run.all();
  EXPECT_EQ(run.supervisor->processes()[1].outages[0].cause,
            "was restarted by an operator, did not end by itself, and was killed");
}

TEST_F(Operator, TheSenderOfAnOrderHearsThatTheProcessHadToBeKilled) {
  Launch run(file_of({fake("a", "steady"), fake("b", "stubborn")}), folder_);
  run.options.grace = 3s;  // in which a busy computer ends what ends by itself
  run.options.duration = 120s;
  std::future<OrderAnswer> restarted;
  std::future<OrderAnswer> stopped;
  std::future<OrderAnswer> again;
  std::future<OrderAnswer> in_order;
  run.on_line = [&](const Launch::Line& line) {
    if (has(line.text, "→ running")) restarted = run.supervisor->order({.what = Order::What::Restart, .process = "b"});
    if (has(line.text, "b (pid") && has(line.text, "runs again"))
      stopped = run.supervisor->order({.what = Order::What::Stop, .process = "b"});
    if (has(line.text, "b is stopped: it did not end by itself, and was killed"))
      again = run.supervisor->order({.what = Order::What::Stop, .process = "b"});
    if (has(line.text, "b is stopped; ")) in_order = run.supervisor->order({.what = Order::What::Stop, .process = "a"});
    if (has(line.text, "a is stopped")) run.supervisor->stop();
  };
  EXPECT_EQ(run.run(), 1) << run.all();
  ASSERT_TRUE(restarted.valid() && stopped.valid() && again.valid() && in_order.valid()) << run.all();
  EXPECT_TRUE(restarted.get().killed);
  EXPECT_TRUE(stopped.get().killed);
  EXPECT_FALSE(again.get().killed) << "it was down already";
  EXPECT_FALSE(in_order.get().killed);
  EXPECT_TRUE(run.supervisor->processes()[1].killed) << "for the summary, whatever came after";
}

TEST_F(Operator, OrdersThatCannotBeCarriedOutSayWhy) {
  config::Process never = fake("never", "fails");
  never.restart.limit = 0;
  Launch run(file_of({fake("a", "steady"), never}), folder_);
  run.options.duration = 60s;
  std::future<OrderAnswer> unknown;
  std::future<OrderAnswer> late;
  std::future<OrderAnswer> starts_not;
  run.on_line = [&](const Launch::Line& line) {
    if (has(line.text, "never is given up") && !unknown.valid()) {
      unknown = run.supervisor->order({.what = Order::What::Stop, .process = "nevr"});
      late = run.supervisor->order({.what = Order::What::Stop, .process = "a", .until_ns = 1});
      starts_not = run.supervisor->order({.what = Order::What::Restart, .process = "never"});
    } else if (has(line.text, "never is given up")) {
      run.supervisor->stop();
    }
  };
  EXPECT_EQ(run.run(), 1) << run.all();
  ASSERT_TRUE(unknown.valid()) << run.all();
  const auto said = [](std::future<OrderAnswer>& answer) {
    const OrderAnswer a = answer.get();
    return a.error ? std::string(a.error->what()) : std::string("done");
  };
  EXPECT_TRUE(has(said(unknown), "system 'test' has no process 'nevr' — did you mean 'never'?"));
  EXPECT_TRUE(has(said(late), "was not carried out"));
  EXPECT_TRUE(has(said(starts_not), "never did not start: it ended with exit code 3"));
  std::future<OrderAnswer> after = run.supervisor->order({.what = Order::What::Look});
  EXPECT_TRUE(has(said(after), "has ended"));
}

TEST_F(Operator, AsksAndOrdersOverTheBus) {
  Remote remote(file_of({fake("a", "steady"), fake("b", "steady")}), folder_);
  host::ControlClient client({.timeout = 20s});
  EXPECT_TRUE(client.components().components.empty());
  EXPECT_TRUE(client.components().problems.empty());
  const host::DomainLaunchers all = client.launchers();
  ASSERT_EQ(all.launchers.size(), 1U);
  EXPECT_TRUE(all.problems.empty());
  const host::LauncherReport& launcher = all.launchers[0];
  EXPECT_EQ(launcher.system, "test");
  EXPECT_EQ(launcher.pid, ::getpid());
  ASSERT_EQ(launcher.processes.size(), 2U);
  EXPECT_EQ(launcher.processes[1].name, "b");
  EXPECT_EQ(launcher.processes[1].state, "running");
  EXPECT_EQ(client.order(launcher, "b", false, 30s).pid, 0);
  const host::DomainLaunchers after = client.launchers();
  ASSERT_EQ(after.launchers.size(), 1U);
  EXPECT_EQ(after.launchers[0].processes.at(1).state, "stopped");
  const int pid = client.order(launcher, "b", true, 30s).pid;
  EXPECT_GT(pid, 0);
  EXPECT_NE(pid, launcher.processes[1].pid);
  try {
    client.order(launcher, "c", true, 30s);
    ADD_FAILURE() << "there is no such process";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::InvalidArgument) << e.what();
  }
  EXPECT_EQ(remote.end(), 0);
}

CARDAN_ROLE(ordered_launcher) {
  Launch run(file_of({fake("a", "steady")}), args.at(0));
  run.options.duration = 120s;
  std::unique_ptr<LauncherControl> control;
  run.on_line = [&](const Launch::Line& line) {
    if (!control) control = std::make_unique<LauncherControl>(*run.supervisor, "");
    if (has(line.text, "→ running")) test::say("runs");
    if (has(line.text, "an operator")) test::say(line.text);
  };
  return run.run();
}

TEST_F(Operator, AnOrderThatNobodyHeardInTimeIsNotCarriedOutLater) {
  test::Child launcher("ordered_launcher", {folder_});
  launcher.expect("runs");
  host::ControlClient patient({.timeout = 20s});
  host::ControlClient client({.timeout = 200ms});
  host::DomainLaunchers all;
  ASSERT_TRUE(test::eventually([&] { return (all = client.launchers()).launchers.size() == 1; }, 30s));
  launcher.signal(SIGSTOP);
  ASSERT_TRUE(test::eventually([&] { return test::is_stopped(launcher.pid()); }, 30s));
  try {
    (void)client.order(all.launchers[0], "a", false, 30s);
    ADD_FAILURE() << "it is stopped";
  } catch (const Error& e) {
    EXPECT_TRUE(has(e.what(), "orders not started by now are dropped")) << e.what();
  }
  launcher.signal(SIGCONT);
  // Answered after that order: the launcher takes one after the other.
  all = patient.launchers();
  ASSERT_EQ(all.launchers.size(), 1U);
  EXPECT_EQ(all.launchers[0].processes.at(0).state, "running");
  EXPECT_EQ(patient.order(all.launchers[0], "a", false, 30s).pid, 0) << "given again, it holds";
  launcher.expect("an operator stops a");
}

TEST_F(Operator, TheControlEndsAlsoWhenTheRunDirectoryHasGone) {
  Launch run(file_of({fake("a", "steady")}), folder_);
  run.options.duration = 60s;
  run.on_line = [&](const Launch::Line& line) {
    if (has(line.text, "→ running")) run.supervisor->stop();
  };
  EXPECT_EQ(run.run(), 0) << run.all();
  auto control = std::make_unique<LauncherControl>(*run.supervisor, "");
  std::filesystem::remove_all(test::run_directory() + "/" + domain_);
  std::promise<void> ended;
  std::thread ends([&] {
    control.reset();
    ended.set_value();
  });
  if (ended.get_future().wait_for(30s) != std::future_status::ready) {
    ADD_FAILURE() << "it waits for ever";
    request_stop();  // which ends it
  }
  ends.join();
}

/// Data that another user may read: it is there, and finds the domain.
constexpr Topic<Beat> kOpen{"/fake/open", {.depth = 1, .access = Access::Everyone}};

CARDAN_ROLE(stranger) {
  Subscriber open(kOpen);
  test::say("open " + std::to_string(open.wait(30s) ? 1 : 0));
  host::ControlClient client({.timeout = 500ms});
  const auto all = client.launchers();
  test::say("launchers " + std::to_string(all.launchers.size()));
  test::say("components " + std::to_string(client.components().hosts));
  std::size_t listeners = 0;
  try {  // orders without a question first
    Publisher<host::ControlMessage> requests(host::kControl);
    const auto until = std::chrono::steady_clock::now() + (::getuid() == 0 ? 60s : 1s);
    while ((listeners = requests.subscribers()) == 0 && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(1ms);
  } catch (const Error&) {  // it may not even publish here
  }
  test::say("listeners " + std::to_string(listeners));
  return 0;
}

TEST_F(Operator, AnotherUserOrdersNothing) {
  SKIP_UNLESS_ROOT();
  ::chmod(test::run_directory().c_str(), 01777);
  Remote remote(file_of({fake("a", "steady")}), folder_);
  Publisher open(kOpen);
  open.publish({1});
  test::Child stranger("stranger", {}, test::as_user(12345));
  EXPECT_EQ(stranger.expect("open"), "1") << "it sees this domain, and is let in where a topic says so";
  EXPECT_EQ(stranger.expect("launchers"), "0");
  EXPECT_EQ(stranger.expect("components"), "0");
  EXPECT_EQ(stranger.expect("listeners"), "0") << "to what it orders";
  EXPECT_EQ(stranger.end(), 0);
  test::Child own("stranger");
  EXPECT_EQ(own.expect("launchers"), "1") << "a user with access";
  EXPECT_EQ(own.expect("listeners"), "1");
  EXPECT_EQ(own.end(), 0);
  EXPECT_EQ(remote.end(), 0);
}

CARDAN_ROLE(imposter) {
  // Publishes answers, and neither listens nor answers; then answers with other bytes than an answer.
  Publisher<host::ControlMessage> answers(host::kAnswers);
  test::say("ready");
  if (test::hear().empty()) return 0;
  Subscriber<host::ControlMessage> requests(host::kControl);
  while (const auto request = requests.wait(60s)) {
    auto loan = answers.loan();
    if (!loan) continue;
    loan->asker = request->asker;
    loan->number = request->number;
    loan->parts = 1;
    loan->host = args.at(0);
    loan->text = args.at(1);
    answers.publish(std::move(loan));
  }
  return 0;
}

TEST_F(Operator, APublisherOfAnswersThatDoesNotListenCostsTheTimeOutOnly) {
  Remote remote(file_of({fake("a", "steady")}), folder_);
  test::Child imposter("imposter", {"", ""});
  imposter.expect("ready");
  host::ControlClient client({.timeout = 1s});
  host::DomainLaunchers all;
  ASSERT_TRUE(test::eventually([&] { return (all = client.launchers()).launchers.size() == 1; }, 30s))
      << "the one that listens has answered";
  ASSERT_EQ(all.problems.size(), 1U);
  EXPECT_TRUE(has(all.problems[0], std::to_string(imposter.pid()))) << all.problems[0];
  EXPECT_EQ(remote.end(), 0);
}

CARDAN_ROLE(open_imposter) {
  TopicOptions options = host::kControlOptions;
  options.access = Access::Everyone;
  const Topic<host::ControlMessage> open{host::kAnswers.name, options};
  Publisher answers(open);
  test::say("ready");
  (void)test::hear();
  return 0;
}

TEST_F(Operator, AnotherUsersPublisherOfAnswersIsNotAsked) {
  SKIP_UNLESS_ROOT();
  ::chmod(test::run_directory().c_str(), 01777);
  Remote remote(file_of({fake("a", "steady")}), folder_);
  test::Child stranger("open_imposter", {}, test::as_user(12345));
  stranger.expect("ready");
  host::ControlClient client({.timeout = 20s});
  const host::DomainLaunchers all = client.launchers();
  EXPECT_EQ(all.launchers.size(), 1U);
  EXPECT_TRUE(all.problems.empty()) << all.problems[0];
  EXPECT_EQ(remote.end(), 0);
}

TEST_F(Operator, InvalidAnswersAreAnError) {
  Remote remote(file_of({fake("a", "steady")}), folder_);
  host::ControlClient client({.timeout = 5s});
  const host::DomainLaunchers all = client.launchers();
  ASSERT_EQ(all.launchers.size(), 1U);
  host::LauncherReport nobody = all.launchers[0];
  nobody.host = "0123456789abcdef";
  for (const char* text : {"[]", "{", "null", R"({"order":"x"})", R"({"error":"x"})", R"({"order":1,"done":7})"}) {
    test::Child imposter("imposter", {nobody.host, text});
    imposter.expect("ready");
    imposter.say("go");
    EXPECT_THROW((void)client.order(nobody, "a", false, 2s), std::exception) << text;
  }
  EXPECT_EQ(remote.end(), 0);
}

}  // namespace
}  // namespace cardan::launcher
