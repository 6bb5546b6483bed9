// SPDX-License-Identifier: Apache-2.0
// Another plan for a launcher that runs.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "cardan/cardan.hpp"
#include "src/system/host/control_client.hpp"
#include "src/system/host/control_message.hpp"
#include "src/system/launcher/launcher_control.hpp"
#include "src/system/plan/plan_parts.hpp"
#include "tests/runtime/fake_host.hpp"
#include "tests/support/child.hpp"

namespace cardan::launcher {
namespace {

using namespace std::chrono_literals;
using config::State;

class ApplyPlan : public LauncherTest {};

/// A process as Launch would give it.
config::Process there(const std::string& folder, std::string name, std::string what,
                      std::map<std::string, std::string> environment = {}) {
  environment["FAKE_FOLDER"] = folder;
  return fake(std::move(name), std::move(what), std::move(environment));
}

/// The order to run this instead.
Order order_of(const Supervisor& supervisor, config::Configuration next) {
  PlanChange change{.from = supervisor.plan()};
  change.to = std::make_shared<const plan::Plan>(plan::Plan{.configuration = std::move(next)});
  change.difference = plan::difference(*change.from, *change.to);
  return {.what = Order::What::Apply, .change = std::make_shared<const PlanChange>(std::move(change))};
}

const ProcessStatus& status(const OrderAnswer& answer, const std::string& name) {
  for (const ProcessStatus& p : answer.processes)
    if (p.name == name) return p;
  throw std::out_of_range(name);
}

TEST_F(ApplyPlan, EndsStartsAndRestartsOnlyWhatDiffers) {
  Launch run(file_of({fake("gone", "steady"), fake("same", "steady"), fake("changed", "steady")}), folder_);
  run.options.duration = 120s;
  std::future<OrderAnswer> applied;
  std::vector<ProcessStatus> before;
  run.on_line = [&](const Launch::Line& line) {
    if (has(line.text, "→ running") && !applied.valid()) {
      before = run.supervisor->processes();
      applied = run.supervisor->order(order_of(
          *run.supervisor, file_of({there(folder_, "new", "steady"), there(folder_, "changed", "steady", {{"A", "1"}}),
                                    there(folder_, "same", "steady")})));
    }
  };
  run.options.tick = 10ms;
  run.options.on_tick = [&] {
    if (applied.valid() && applied.wait_for(0s) == std::future_status::ready) run.stop_once();
  };
  EXPECT_EQ(run.run(), 0) << run.all();
  ASSERT_TRUE(applied.valid()) << run.all();
  const OrderAnswer done = applied.get();
  EXPECT_FALSE(done.error) << done.error->what();
  EXPECT_FALSE(done.killed);
  ASSERT_EQ(done.processes.size(), 3U) << run.all();
  EXPECT_EQ(done.processes[0].name, "new");
  for (const ProcessStatus& p : done.processes) EXPECT_EQ(p.phase, Phase::Running) << p.name;
  EXPECT_EQ(status(done, "same").pid, before[1].pid);
  EXPECT_TRUE(status(done, "same").outages.empty());
  EXPECT_NE(status(done, "changed").pid, before[2].pid);
  EXPECT_EQ(status(done, "changed").outages.at(0).cause, "was ended for another plan");
  EXPECT_EQ(status(done, "changed").restarts, 0U) << "its rule's restarts are not used up by it";
  EXPECT_EQ(run.supervisor->configuration().processes.size(), 3U);
  EXPECT_TRUE(run.said("ends gone")) << run.all();
  EXPECT_EQ(run.states(), (std::vector{State::Starting, State::Running, State::Stopped})) << run.all();
}

TEST_F(ApplyPlan, AllProcessesMayBeOthers) {
  Launch run(file_of({fake("a", "steady")}), folder_);
  run.options.duration = 120s;
  std::future<OrderAnswer> applied;
  run.on_line = [&](const Launch::Line& line) {
    if (has(line.text, "→ running") && !applied.valid())
      applied = run.supervisor->order(
          order_of(*run.supervisor, file_of({there(folder_, "b", "steady"), there(folder_, "c", "steady")})));
  };
  run.options.tick = 10ms;
  run.options.on_tick = [&] {
    if (applied.valid() && applied.wait_for(0s) == std::future_status::ready) run.stop_once();
  };
  EXPECT_EQ(run.run(), 0) << run.all();
  EXPECT_TRUE(run.said("ends a") && run.said("ends b") && run.said("ends c")) << run.all();
}

TEST_F(ApplyPlan, AProcessThatCrashesAfterwardsComesBackByTheNewPlan) {
  Launch run(file_of({fake("a", "steady"), fake("b", "steady")}), folder_);
  run.options.duration = 120s;
  std::future<OrderAnswer> applied;
  run.on_line = [&](const Launch::Line& line) {
    if (has(line.text, "→ running") && !applied.valid()) {
      std::ofstream(folder_ + "/go");
      applied = run.supervisor->order(
          order_of(*run.supervisor,
                   file_of({there(folder_, "b", "crashes once"), there(folder_, "a", "steady", {{"A", "1"}})})));
    }
    if (has(line.text, "b (pid") && has(line.text, "runs again") && run.said("died by signal")) run.stop_once();
  };
  EXPECT_EQ(run.run(), 0) << run.all();
  EXPECT_TRUE(run.said("b is restarted in")) << run.all();
}

TEST_F(ApplyPlan, AGivenUpProcessIsMendedByIt) {
  config::Process bad = fake("bad", "fails");
  bad.restart.limit = 0;
  Launch run(file_of({fake("a", "steady"), bad}), folder_);
  run.options.duration = 120s;
  std::future<OrderAnswer> applied;
  run.on_line = [&](const Launch::Line& line) {
    if (has(line.text, "→ degraded"))
      applied = run.supervisor->order(
          order_of(*run.supervisor, file_of({there(folder_, "a", "steady"), there(folder_, "bad", "steady")})));
    if (has(line.text, "degraded → running")) run.stop_once();
  };
  EXPECT_EQ(run.run(), 1) << "one was given up\n" << run.all();
  ASSERT_TRUE(applied.valid()) << run.all();
  EXPECT_FALSE(applied.get().error);
  EXPECT_EQ(run.states(), (std::vector{State::Starting, State::Degraded, State::Running, State::Stopped})) << run.all();
}

TEST_F(ApplyPlan, OneThatAnOperatorStoppedStaysDown) {
  Launch run(file_of({fake("a", "steady"), fake("b", "steady")}), folder_);
  run.options.duration = 120s;
  std::future<OrderAnswer> stopped;
  std::future<OrderAnswer> applied;
  run.on_line = [&](const Launch::Line& line) {
    if (has(line.text, "→ running") && !stopped.valid())
      stopped = run.supervisor->order({.what = Order::What::Stop, .process = "b"});
    if (has(line.text, "b is stopped"))
      applied = run.supervisor->order(order_of(
          *run.supervisor, file_of({there(folder_, "a", "steady"), there(folder_, "b", "steady", {{"A", "1"}})})));
    if (has(line.text, "holds now")) run.stop_once();
  };
  EXPECT_EQ(run.run(), 0) << run.all();
  ASSERT_TRUE(applied.valid()) << run.all();
  const OrderAnswer done = applied.get();
  EXPECT_FALSE(done.error);
  EXPECT_EQ(status(done, "b").phase, Phase::Stopped);
}

TEST_F(ApplyPlan, SaysWhatDidNotStartOrEnd) {
  Launch run(file_of({fake("a", "steady"), fake("b", "stubborn")}), folder_);
  run.options.duration = 120s;
  run.options.grace = 50ms;
  run.options.slow_start = 50ms;
  std::future<OrderAnswer> fails;
  std::future<OrderAnswer> hangs;
  std::future<OrderAnswer> next;
  const auto never = [&](const char* name) {
    config::Process process = there(folder_, name, "fails");
    process.restart.limit = 0;
    return process;
  };
  run.on_line = [&](const Launch::Line& line) {
    const config::Process a = there(folder_, "a", "steady");
    if (has(line.text, "→ running") && !fails.valid())
      fails = run.supervisor->order(order_of(*run.supervisor, file_of({a, never("never"), never("neither")})));
    if (has(line.text, "component 'camera' is in on_start") && !next.valid())
      next = run.supervisor->order(order_of(*run.supervisor, file_of({a})));
  };
  run.options.tick = 10ms;
  run.options.on_tick = [&] {
    const auto is_there = [](const auto& answer) {
      return answer.valid() && answer.wait_for(0s) == std::future_status::ready;
    };
    if (is_there(fails) && !hangs.valid())
      hangs = run.supervisor->order(order_of(
          *run.supervisor, file_of({there(folder_, "a", "steady"), there(folder_, "slow", "hangs in start")})));
    if (is_there(next)) run.stop_once();
  };
  EXPECT_EQ(run.run(), 1) << run.all();
  ASSERT_TRUE(fails.valid() && hangs.valid() && next.valid()) << run.all();
  const OrderAnswer first = fails.get();
  EXPECT_TRUE(first.killed) << "b did not end by itself";
  ASSERT_TRUE(first.error);
  EXPECT_TRUE(has(first.error->what(), "never did not start: it ended with exit code 3")) << first.error->what();
  EXPECT_TRUE(has(first.error->what(), "neither did not start: it ended with exit code 3")) << first.error->what();
  const OrderAnswer second = hangs.get();
  ASSERT_TRUE(second.error);
  EXPECT_TRUE(has(second.error->what(), "slow had not started when the next plan came")) << second.error->what();
  EXPECT_FALSE(next.get().error) << "a process that hangs in its start does not keep it waiting";
}

TEST_F(ApplyPlan, ASystemThatDoesNotStartWithItWaitsForTheNext) {
  Launch run(file_of({fake("a", "steady")}), folder_);
  run.options.duration = 120s;
  std::future<OrderAnswer> applied;
  std::future<OrderAnswer> next;
  config::Process wrong = there(folder_, "a", "fails");
  wrong.restart.limit = 0;
  run.on_line = [&](const Launch::Line& line) {
    if (has(line.text, "→ running") && !applied.valid())
      applied = run.supervisor->order(order_of(*run.supervisor, file_of({wrong})));
  };
  run.options.tick = 10ms;
  run.options.on_tick = [&] {
    if (run.supervisor->processes()[0].phase == Phase::GivenUp && !next.valid())
      next = run.supervisor->order(order_of(*run.supervisor, file_of({there(folder_, "a", "steady")})));
    if (next.valid() && next.wait_for(0s) == std::future_status::ready) run.stop_once();
  };
  EXPECT_EQ(run.run(), 1) << "one was given up\n" << run.all();
  ASSERT_TRUE(applied.valid() && next.valid()) << run.all();
  EXPECT_TRUE(applied.get().error);
  EXPECT_FALSE(next.get().error) << run.all();
  EXPECT_TRUE(run.said("degraded → running")) << run.all();
}

TEST_F(ApplyPlan, AProcessThatDoesNotStartCanBeStoppedByHand) {
  Launch run(file_of({fake("a", "steady")}), folder_);
  run.options.duration = 120s;
  run.options.slow_start = 50ms;
  std::future<OrderAnswer> applied;
  std::future<OrderAnswer> stopped;
  run.on_line = [&](const Launch::Line& line) {
    if (has(line.text, "→ running") && !applied.valid())
      applied = run.supervisor->order(order_of(
          *run.supervisor, file_of({there(folder_, "a", "steady"), there(folder_, "slow", "hangs in start")})));
    if (has(line.text, "component 'camera' is in on_start") && !stopped.valid())
      stopped = run.supervisor->order({.what = Order::What::Stop, .process = "slow"});
    if (has(line.text, "slow is stopped")) run.stop_once();
  };
  EXPECT_EQ(run.run(), 0) << run.all();
  ASSERT_TRUE(applied.valid() && stopped.valid()) << run.all();
  EXPECT_FALSE(stopped.get().error);
  const OrderAnswer done = applied.get();
  ASSERT_TRUE(done.error);
  EXPECT_TRUE(has(done.error->what(), "slow had not started when an operator ended it")) << done.error->what();
}

TEST_F(ApplyPlan, AProcessThatCrashesMeanwhileStartsWithTheNewPlan) {
  Launch run(file_of({fake("held", "stubborn"), fake("b", "crashes once")}), folder_);
  run.options.duration = 120s;
  run.options.grace = 2s;  // held takes that long to end, and b crashes meanwhile
  std::future<OrderAnswer> applied;
  std::size_t holds = 0;
  std::size_t again = 0;
  run.on_line = [&](const Launch::Line& line) {
    if (has(line.text, "→ running") && !applied.valid())
      applied = run.supervisor->order(order_of(*run.supervisor, file_of({there(folder_, "b", "crashes once")})));
    if (has(line.text, "an operator changes the plan")) std::ofstream(folder_ + "/go");
    if (has(line.text, "holds now")) holds = run.lines.size();
    if (has(line.text, "b (pid") && has(line.text, "runs again")) {
      again = run.lines.size();
      run.stop_once();
    }
  };
  EXPECT_EQ(run.run(), 1) << "held is killed\n" << run.all();
  EXPECT_GT(holds, 0U) << run.all();
  EXPECT_GT(again, holds) << run.all();
}

TEST_F(ApplyPlan, AStartingProcessGetsNewParametersByANewStart) {
  const auto with = [&](config::Process process, std::int64_t value) {
    process.components = {{.name = "camera", .parameters = {{"rate", config::Value(value)}}}};
    return process;
  };
  Launch run(file_of({with(fake("slow", "hangs in start"), 1), fake("a", "steady")}), folder_);
  run.options.duration = 120s;
  run.options.slow_start = 50ms;
  std::future<OrderAnswer> applied;
  std::size_t starts = 0;
  run.on_line = [&](const Launch::Line& line) {
    if (!has(line.text, "component 'camera' is in on_start")) return;
    if (!applied.valid())
      applied = run.supervisor->order(
          order_of(*run.supervisor,
                   file_of({with(there(folder_, "slow", "hangs in start"), 2), there(folder_, "a", "steady")})));
    else if (run.said("holds now") && ++starts == 1)
      run.stop_once();
  };
  EXPECT_EQ(run.run(), 0) << run.all();
  ASSERT_TRUE(applied.valid()) << run.all();
  EXPECT_EQ(run.supervisor->processes()[0].outages.at(0).cause, "was ended for another plan") << run.all();
  EXPECT_TRUE(run.supervisor->processes()[1].outages.empty()) << run.all();
}

TEST_F(ApplyPlan, AProcessThatThePlanDoesNotHaveIsNotDown) {
  config::Configuration first = file_of({fake("held", "stubborn"), fake("gone", "steady")});
  first.transitions = {
      {.from = {State::Running}, .when = {config::Condition::Kind::Down, {"gone", "held"}}, .to = State::SafeStop}};
  Launch run(first, folder_);
  run.options.duration = 120s;
  run.options.grace = 300ms;
  std::future<OrderAnswer> applied;
  run.on_line = [&](const Launch::Line& line) {
    if (has(line.text, "→ running") && !applied.valid())
      applied = run.supervisor->order(order_of(*run.supervisor, file_of({there(folder_, "new", "steady")})));
    if (has(line.text, "new (pid") && has(line.text, "runs after")) run.stop_once();
  };
  EXPECT_EQ(run.run(), 1) << "held is killed\n" << run.all();
  EXPECT_EQ(run.states(), (std::vector{State::Starting, State::Running, State::Stopped})) << run.all();
}

TEST_F(ApplyPlan, TheRulesOfTheStatesAreTheNewPlans) {
  config::Configuration next = file_of({there(folder_, "a", "steady"), there(folder_, "b", "steady")});
  next.transitions = {
      {.from = {State::Running}, .when = {config::Condition::Kind::Down, {"b"}}, .to = State::SafeStop}};
  Launch run(file_of({fake("a", "steady"), fake("b", "steady")}), folder_);
  run.options.duration = 120s;
  std::future<OrderAnswer> applied;
  run.on_line = [&](const Launch::Line& line) {
    if (has(line.text, "→ running") && !applied.valid())
      applied = run.supervisor->order(order_of(*run.supervisor, next));
    if (has(line.text, "holds now")) (void)run.supervisor->order({.what = Order::What::Stop, .process = "b"});
    if (has(line.text, "→ safe_stop")) run.stop_once();
  };
  EXPECT_EQ(run.run(), 0) << run.all();
  EXPECT_EQ(run.states(), (std::vector{State::Starting, State::Running, State::SafeStop, State::Stopped})) << run.all();
}

TEST_F(ApplyPlan, AnImpossiblePlanLeavesAllAsItIs) {
  Launch run(file_of({fake("a", "steady"), fake("b", "stubborn")}), folder_);
  run.options.duration = 120s;
  run.options.grace = 300ms;
  std::future<OrderAnswer> busy;
  std::future<OrderAnswer> outdated;
  std::future<OrderAnswer> late;
  std::future<OrderAnswer> cut_short;
  bool begun = false;
  run.on_line = [&](const Launch::Line& line) {
    const config::Configuration next =
        file_of({there(folder_, "a", "steady", {{"A", "1"}}), there(folder_, "b", "stubborn")});
    if (has(line.text, "→ running") && !std::exchange(begun, true)) {
      Order of_this = order_of(*run.supervisor, next);
      (void)run.supervisor->order({.what = Order::What::Restart, .process = "b"});
      busy = run.supervisor->order(of_this);
      of_this.until_ns = 1;
      late = run.supervisor->order(of_this);
    }
    if (has(line.text, "b (pid") && has(line.text, "runs again") && !outdated.valid()) {
      PlanChange other = *order_of(*run.supervisor, next).change;
      other.from = std::make_shared<const plan::Plan>(*other.from);
      outdated = run.supervisor->order(
          {.what = Order::What::Apply, .change = std::make_shared<const PlanChange>(std::move(other))});
      cut_short = run.supervisor->order(
          order_of(*run.supervisor, file_of({there(folder_, "a", "steady")})));  // b takes its time to end
    }
    if (has(line.text, "an operator changes the plan")) run.stop_once();
  };
  EXPECT_EQ(run.run(), 1) << run.all();
  ASSERT_TRUE(busy.valid() && outdated.valid()) << run.all();
  const auto said = [](std::future<OrderAnswer>& answer) {
    const OrderAnswer a = answer.get();
    return a.error ? std::string(a.error->what()) : std::string("done");
  };
  EXPECT_TRUE(has(said(busy), "another order is being carried out"));
  EXPECT_TRUE(has(said(late), "came too late"));
  EXPECT_TRUE(has(said(outdated), "the plan was changed meanwhile"));
  EXPECT_TRUE(has(said(cut_short), "the system is being stopped"));
  EXPECT_EQ(run.supervisor->configuration().processes.size(), 2U);
}

TEST_F(ApplyPlan, ComesOverTheBusInParts) {
  config::Configuration c = file_of({fake("a", "steady"), fake("b", "steady")});
  c.domain = domain_;
  Remote remote(c, folder_);
  host::ControlClient client({.timeout = 20s});
  const host::LauncherReport launcher = client.launchers().launchers.at(0);
  plan::Plan next = *remote.plan();
  EXPECT_TRUE(client.offer_plan(launcher, next).difference.empty());
  next.configuration.processes[1].environment["MUCH"] = std::string(100'000, 'x');
  const auto offered = client.offer_plan(launcher, next);
  EXPECT_EQ(offered.difference.restart, (std::vector<plan::Difference::Changed>{{"b", {"environment"}}}));
  EXPECT_EQ(client.launchers().launchers.at(0).processes.at(1).pid, launcher.processes.at(1).pid) << "not yet";
  EXPECT_FALSE(client.apply_plan(launcher, offered.offer, 120s).killed);
  const host::LauncherReport after = client.launchers().launchers.at(0);
  EXPECT_EQ(after.processes.at(0).pid, launcher.processes.at(0).pid);
  EXPECT_NE(after.processes.at(1).pid, launcher.processes.at(1).pid);
  EXPECT_EQ(remote.plan()->configuration, next.configuration);
  const auto refused = [&](const plan::Plan& plan, const std::string& why) {
    try {
      (void)client.offer_plan(launcher, plan);
      ADD_FAILURE() << why;
    } catch (const Error& e) {
      EXPECT_TRUE(has(e.what(), why)) << e.what();
    }
  };
  EXPECT_THROW((void)client.apply_plan(launcher, offered.offer, 1s), Error) << "once";
  next.configuration.domain = "other";
  refused(next, "it cannot change while the system runs");
  next.configuration.processes[1].environment["MUCH"] = std::string(plan::kMaxOfferedBytes, 'x');
  refused(next, "more than 16 MiB");
  EXPECT_EQ(remote.end(), 0);
}

/// The messages of a peer that does not keep to the rules.
std::string answer_to(const std::string& request) {
  static std::uint32_t number = 0;  // a new subscriber also gets earlier answers
  ++number;
  Subscriber<host::ControlMessage> answers(host::kAnswers);
  Publisher<host::ControlMessage> requests(host::kControl);
  while (requests.subscribers() == 0) std::this_thread::sleep_for(1ms);
  auto loan = requests.loan();
  loan->asker = 7;
  loan->number = number;
  loan->text = request;
  requests.publish(std::move(loan));
  while (const auto answer = answers.wait(30s))
    if (answer->asker == 7 && answer->number == number) return std::string(answer->text.view());
  return {};
}

TEST_F(ApplyPlan, NonsenseIsRefusedAndThePlanStays) {
  config::Configuration c = file_of({fake("a", "steady")});
  c.domain = domain_;
  Remote remote(c, folder_);
  const auto before = remote.plan();
  const std::string no_plan = plan::parts_of("cardan plan\n and then nothing").at(0);
  for (const std::string& request :
       {std::string(R"({"do":"apply plan","offer":1,"within_ms":1000})"), std::string(R"({"do":"apply plan"})"),
        std::string(R"({"do":"offer plan"})"),
        std::string(R"({"do":"offer plan","offer":-1,"part":0,"parts":1,"digits":""})"),
        std::string(R"({"do":"offer plan","offer":1,"part":1,"parts":2,"digits":"00"})"),
        std::string(R"({"do":"offer plan","offer":1,"part":0,"parts":1,"digits":"00"})"),
        R"({"do":"offer plan","offer":1,"part":0,"parts":1,"digits":")" + no_plan + R"("})"}) {
    const std::string answer = answer_to(request);
    EXPECT_TRUE(has(answer, "\"error\"")) << request << " → " << answer;
  }
  // A plan that could not be read from a file: a process's name leads elsewhere.
  plan::Plan bad = *before;
  bad.configuration.processes[0].name = "../a";
  const std::vector<std::string> parts = plan::parts_of(plan::encode(bad));
  std::string answer;
  for (std::size_t i = 0; i < parts.size(); ++i)
    answer = answer_to(
        nlohmann::json{{"do", "offer plan"}, {"offer", 5}, {"part", i}, {"parts", parts.size()}, {"digits", parts[i]}}
            .dump());
  EXPECT_TRUE(has(answer, "wrong name of a process")) << answer;
  EXPECT_EQ(remote.plan(), before);
  EXPECT_EQ(remote.end(), 0);
}

}  // namespace
}  // namespace cardan::launcher
