// SPDX-License-Identifier: Apache-2.0
// `cardan run` and components that crash, hang or cannot start, as their users see it.
#include <fmt/format.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "src/system/host/control_client.hpp"
#include "tests/runtime/host_support.hpp"

namespace cardan::test {
namespace {

using namespace std::chrono_literals;
using host::ControlClient;

class RunCrash : public Hosts {
 protected:
  void SetUp() override {
    if (!kHasCommand) GTEST_SKIP() << "this build has no command";
  }
  /// `cardan run` on a file; its log is read up to each word that is waited for.
  Child launch(const std::string& file, const Args& more = {}) {
    Args words{"run", file, "--no-view", "--reports", reports()};
    words.insert(words.end(), more.begin(), more.end());
    return Child("cardan", words);
  }
  [[nodiscard]] std::string reports() const { return run_directory() + "/" + domain_ + "-reports"; }
  /// The log until a line that contains `part`; "": it did not come.
  static std::string until(Child& child, const std::string& part) {
    std::string all;
    while (const auto line = child.line(60s)) {
      all += *line + "\n";
      if (has(*line, part)) return all;
    }
    ADD_FAILURE() << part << " is not in\n" << all;
    return {};
  }
  [[nodiscard]] std::string report() const {
    std::string all;
    for (const auto& entry : std::filesystem::directory_iterator(reports())) {
      std::ifstream in(entry.path());
      all += std::string(std::istreambuf_iterator<char>(in), {});
    }
    return all;
  }
  void order(Order what) {
    if (!orders_) orders_ = std::make_unique<Publisher<Number>>(kOrders);
    orders_->publish({static_cast<std::int64_t>(what)});
  }
  std::unique_ptr<Publisher<Number>> orders_;
};

TEST_F(RunCrash, APoisonSampleIsSkippedAfterTheSecondCrash) {
  // They are there before the process is: it is given all of them, each time that it starts.
  for (const Order what : {Order::Answer, Order::Segfault, Order::Answer}) order(what);
  Subscriber said{kSaid};
  Child child =
      launch(file(fmt::format(R"("serve": {})", component("Servant")), R"("restart": {"limit": 20, "backoff_ms": 1})"),
             {"--json", run_directory() + "/poison.json"});
  const std::string log = until(child, "is skipped: this process crashed on it twice");
  EXPECT_TRUE(
      has(log, "p crashed twice on sample 2 in callback '/orders' of component 'serve': it is skipped from now on"))
      << log;
  ASSERT_TRUE(eventually(
      [&] {
        const auto answer = said.wait(1s);
        return answer && answer->value == 2;
      },
      60s))
      << "it continues after it";
  ControlClient client({.timeout = 20s});
  host::DomainComponents all;
  ASSERT_TRUE(eventually([&] { return (all = client.components()).components.size() == 1; }, 30s));
  EXPECT_EQ(all.components[0].callbacks.at(0).skipped, 1U);
  child.signal(SIGTERM);
  const std::string end = rest(child);
  EXPECT_EQ(child.end(), 0) << end;
  std::ifstream in(run_directory() + "/poison.json");
  const auto process = nlohmann::json::parse(in)["processes"][0];
  EXPECT_EQ(process["restarts"], 2);
  ASSERT_EQ(process["skipped"].size(), 1U);
  EXPECT_EQ(process["skipped"][0]["sequence"], 2);
}

TEST_F(RunCrash, AWatchdogsEndIsCalledSoAndItsStackHasNames) {
  Child child = launch(
      file(fmt::format(R"("serve": {})", component("Servant", R"("watchdog_ms": 30)")), R"("restart": {"limit": 0})"));
  order(Order::Hang);
  const std::string log = until(child, "was ended by its watchdog");
  EXPECT_TRUE(has(log, "was ended by its watchdog: callback '/orders' of component 'serve' has been running for"))
      << log;
  EXPECT_FALSE(has(log, "died by signal")) << log;
  const std::string end = rest(child);
  EXPECT_EQ(child.end(), 1) << end;
  const std::string words = report();
  EXPECT_TRUE(has(words, "end       was ended by its watchdog: callback")) << words;
  EXPECT_TRUE(has(words, "(servant_hangs")) << words;
  EXPECT_TRUE(has(words, "(cardan::")) << words;
  EXPECT_FALSE(has(words, "(_ZN6cardan")) << words;
}

TEST_F(RunCrash, ACrashOutsideOfCallbacksNamesTheComponentAndTheStep) {
  {
    Child child =
        launch(file(fmt::format(R"("serve": {})", component("FallsInConstructor")), R"("restart": {"limit": 0})"),
               {"--no-check"});
    until(child, "died by signal 11 (Segmentation fault) in the constructor of component 'serve'");
    const std::string end = rest(child);
    EXPECT_EQ(child.end(), 1) << end;
  }
  Child child = launch(file(fmt::format(R"("serve": {})", component("FallsAtTheEnd"))), {"--no-check"});
  until(child, "runs after");
  child.signal(SIGTERM);
  const std::string end = rest(child);
  EXPECT_TRUE(has(end, "died by signal 11 (Segmentation fault) in the destructor of component 'serve'")) << end;
  EXPECT_EQ(child.end(), 1) << end;
}

TEST_F(RunCrash, AnExitInACallbackIsACrash) {
  Child child = launch(file(fmt::format(R"("serve": {})", component("Servant")), R"("restart": {"limit": 0})"));
  order(Order::Exit);
  until(child, "called exit(0), which nobody asked for — a callback or a library ended its process");
  const std::string end = rest(child);
  EXPECT_EQ(child.end(), 1) << end;
}

TEST_F(RunCrash, ACallbackThatHangsWithoutAWatchdogIsReported) {
  Child child = launch(file(fmt::format(R"("serve": {})", component("Servant"))), {"--grace", "0.1"});
  order(Order::Hang);
  const std::string log = until(child, "has been running for");
  EXPECT_TRUE(has(log, "callback '/orders' of component 'serve' has been running for")) << log;
  EXPECT_TRUE(has(log, "cardan run --restart p does it now")) << log;
  const Outcome list = run({"component", "list"});
  EXPECT_TRUE(has(list.text, "serve: callback '/orders' has been running for ")) << list.text;
  const Outcome listed = run({"component", "list", "--json"});
  EXPECT_GT(nlohmann::json::parse(listed.text)["components"][0]["callbacks"][0]["runs_for_ms"], 2000.0) << listed.text;
  until(child, "has been running for");
  child.signal(SIGTERM);
  const std::string end = rest(child);
  EXPECT_EQ(child.end(), 1) << end;
}

TEST_F(RunCrash, ExceptionsAreCountedNamedAndChangeTheExitCode) {
  for (const auto& [rule, throws] : {std::pair{"continue", 3}, std::pair{"crash", 1}}) {
    orders_.reset();
    for (int i = 0; i < throws; ++i) order(Order::Throw);
    order(Order::Answer);
    Subscriber said{kSaid};
    Child child =
        launch(file(fmt::format(R"("serve": {})", component("Servant", fmt::format(R"("on_exception": "{}")", rule))),
                    R"("restart": {"limit": 20, "backoff_ms": 1})"),
               {"--json", run_directory() + "/threw.json"});
    ASSERT_TRUE(eventually([&] { return static_cast<bool>(said.wait(1s)); }, 60s)) << rule;
    child.signal(SIGTERM);
    const std::string end = rest(child);
    EXPECT_EQ(child.end(), 3) << end;
    EXPECT_TRUE(has(end, fmt::format("serve (p): {} exceptions left its callbacks", throws == 3 ? 3 : 2))) << end;
    std::ifstream in(run_directory() + "/threw.json");
    const auto summary = nlohmann::json::parse(in);
    EXPECT_EQ(summary["exit_code"], 3);
    EXPECT_EQ(
        summary["processes"][0]["exceptions"],
        nlohmann::json::parse(fmt::format(R"([{{"component": "serve", "exceptions": {}}}])", throws == 3 ? 3 : 2)));
  }
}

TEST_F(RunCrash, ProcessesAreCalledByTheirNames) {
  Child child = launch(file(fmt::format(R"("serve": {})", component("Servant"))));
  ControlClient client({.timeout = 20s});
  host::DomainComponents all;
  ASSERT_TRUE(eventually([&] { return (all = client.components()).components.size() == 1; }, 60s));
  const std::string proc = "/proc/" + std::to_string(all.components[0].pid);
  std::ifstream comm(proc + "/comm");
  std::string name;
  std::getline(comm, name);
  EXPECT_EQ(name, "p") << "what top shows";
  std::ifstream cmdline(proc + "/cmdline");
  std::getline(cmdline, name, '\0');
  EXPECT_EQ(name, "cardan:p") << "what ps shows";
  const auto look = look_around({}, "/said");
  ASSERT_EQ(look.publishers.size(), 1U);
  EXPECT_EQ(look.publishers[0].program, "p") << "what errors say";
  child.signal(SIGTERM);
  (void)rest(child);
  EXPECT_EQ(child.end(), 0);
}

TEST_F(RunCrash, ACrashOnPurposeIsAboutItsComponent) {
  Child child = launch(file(fmt::format(R"("tick": {}, "serve": {})", component("Ticker"), component("Servant"))),
                       {"--crash", "serve@0"});
  until(child, "runs again");
  child.signal(SIGTERM);
  const std::string end = rest(child);
  EXPECT_EQ(child.end(), 0) << end;
  const std::string words = report();
  EXPECT_TRUE(has(words, "component: serve\n")) << words;
  EXPECT_TRUE(has(words, "reason: component 'serve' was ordered to crash")) << words;
  EXPECT_TRUE(has(words, "signal: SIGSEGV")) << words;
}

TEST_F(RunCrash, AFileThatCheckRefusesIsRefusedInTheSameWords) {
  for (const std::string& components :
       {fmt::format(R"("one": {}, "two": {})", component("Servant"), component("Refuser")),
        fmt::format(R"("one": {})", component("Servant", R"("parameters": {"threshold": 7.5})")),
        fmt::format(R"("one": {})", component("Servont")),
        std::string(R"("one": {"library": "libnowhere.so", "class": "Servant"})"),
        std::string(R"("one": {"lib": 5})")}) {
    const std::string name = file(components);
    const Outcome check = run({"check", name});
    const Outcome refused = run({"run", name, "--no-view", "--reports", reports()});
    EXPECT_EQ(check.code, 1) << check.text;
    EXPECT_EQ(refused.code, check.code) << refused.text;
    EXPECT_EQ(refused.text, check.text);
  }
  EXPECT_FALSE(std::filesystem::exists(reports())) << "nothing was started";

  const std::string good = file(fmt::format(R"("one": {})", component("Servant")));
  const Outcome set = run({"run", good, "--no-view", "--set", "one/threshold=7.5"});
  EXPECT_EQ(set.code, 1);
  EXPECT_TRUE(has(set.text, "is 7.5, out of its range")) << set.text;

  // Without asking, a start that fails for good is tried once.
  const Outcome blind = run({"run", file(fmt::format(R"("one": {})", component("Servont"))), "--no-view", "--no-check",
                             "--reports", reports()});
  EXPECT_EQ(blind.code, 1);
  EXPECT_TRUE(has(blind.text, "p is given up: a restart cannot change that")) << blind.text;
  EXPECT_TRUE(has(blind.text, "unknown component class 'Servont'")) << blind.text;
  EXPECT_FALSE(has(blind.text, "is restarted in")) << blind.text;
}

}  // namespace
}  // namespace cardan::test
