// SPDX-License-Identifier: Apache-2.0
// Orders of operators to components that run: changes that come too late, restarts, levels, saved parameters.
#include <fmt/format.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cardan/error.hpp"
#include "src/system/host/control_client.hpp"
#include "tests/runtime/host_support.hpp"

namespace cardan::test {
namespace {

using namespace std::chrono_literals;
using host::ComponentReport;
using host::ControlClient;
using nlohmann::json;

class HostOrders : public Hosts {
 protected:
  void order(Order what) {
    if (!orders_) orders_ = std::make_unique<Publisher<Number>>(kOrders);
    ASSERT_TRUE(eventually([&] { return orders_->subscribers() > 0; }, 30s));
    orders_->publish({static_cast<std::int64_t>(what)});
  }
  static ComponentReport servant(ControlClient& client) {
    host::DomainComponents all;
    EXPECT_TRUE(eventually([&] { return !(all = client.components()).components.empty(); }, 30s));
    return all.components.empty() ? ComponentReport{} : all.components.back();
  }
  static config::Value people(ControlClient& client) {
    for (const auto& p : servant(client).parameters)
      if (p.name == "people") return p.value;
    return false;
  }
  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
  }
  std::unique_ptr<Publisher<Number>> orders_;
};

TEST_F(HostOrders, AChangeThatTimedOutDoesNotTakeEffect) {
  Child child = host(file(fmt::format(R"("serve": {})", component("Servant"))));
  Subscriber said{kSaid};
  ControlClient client({.timeout = 20s, .change = 100ms});
  const ComponentReport serve = servant(client);
  order(Order::Nap);
  ASSERT_TRUE(eventually([&] { return servant(client).callbacks.at(0).running_since > 0; }, 30s));
  try {
    client.set_parameter(serve, "people", std::int64_t{2});
    ADD_FAILURE() << "its component naps";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::Unavailable) << e.what();
    EXPECT_TRUE(has(e.what(), "is not changed")) << e.what();
  }
  std::ofstream(run_directory() + "/" + domain_ + ".wake") << "wake up";
  order(Order::Answer);
  for (int i = 1; i <= 2; ++i) ASSERT_TRUE(said.wait(30s)) << "what was asked meanwhile has had its turn";
  EXPECT_EQ(people(client), config::Value(std::int64_t{4}));
  ControlClient patient({.timeout = 20s, .change = 20s});
  patient.set_parameter(serve, "people", std::int64_t{2});
  EXPECT_EQ(people(client), config::Value(std::int64_t{2})) << "set again, it holds";
}

TEST_F(HostOrders, AChangeThatAStoppedProcessHearsLaterDoesNotTakeEffect) {
  Child child = host(file(fmt::format(R"("serve": {})", component("Servant"))));
  ControlClient client({.timeout = 200ms, .change = 50ms});
  ControlClient patient({.timeout = 20s});
  const ComponentReport serve = servant(patient);
  ASSERT_TRUE(eventually([&] { return client.components().hosts == 1; }, 30s)) << "it listens to this client";
  child.signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return is_stopped(child.pid()); }, 30s));
  EXPECT_THROW(client.set_parameter(serve, "people", std::int64_t{2}), Error);
  child.signal(SIGCONT);
  EXPECT_EQ(people(patient), config::Value(std::int64_t{4})) << "it answers in the order of the requests";
}

TEST_F(HostOrders, AChangeThatWaitedForARestartDoesNotTakeEffectLater) {
  const std::string mark = run_directory() + "/" + domain_;
  Child child = host(file(fmt::format(R"("serve": {})", component("Servant", R"("on_exception": "restart")"))));
  ControlClient patient({.timeout = 20s});
  ControlClient client({.timeout = 200ms, .change = 100ms});
  const ComponentReport serve = servant(patient);
  ASSERT_TRUE(eventually([&] { return client.components().hosts == 1; }, 30s)) << "it listens to this client";
  std::ofstream(mark + ".slow") << "its start takes long";
  order(Order::Throw);
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(mark + ".starting"); }, 30s));
  try {
    client.set_parameter(serve, "people", std::int64_t{2});
    ADD_FAILURE() << "its component is being restarted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::Unavailable) << e.what();
  }
  EXPECT_THROW(client.set_log_level(serve, LogLevel::Error), Error);
  std::filesystem::remove(mark + ".slow");
  EXPECT_EQ(people(patient), config::Value(std::int64_t{4})) << "it answers in the order of the requests";
  Subscriber said{kSaid};
  order(Order::Speak);
  ASSERT_TRUE(said.wait(30s)) << "it has heard it";
  child.signal(SIGTERM);
  // Its successor fails on the same order once more, and the one after that gets the last orders again.
  EXPECT_GE(count(rest(child), "serve: the servant speaks"), 1U) << "at its old level";
  EXPECT_EQ(child.end(), 0);
}

TEST_F(HostOrders, AHangThatHasJustBegunDoesNotTakeTheProcessAlong) {
  Child child = host(file(fmt::format(R"("serve": {})", component("Servant"))));
  ControlClient client({.timeout = 20s});
  const ComponentReport serve = servant(client);
  order(Order::Hang);
  ASSERT_TRUE(eventually([&] { return servant(client).callbacks.at(0).running_since > 0; }, 30s));
  for (int i = 0; i < 2; ++i) {
    try {
      (void)client.restart_component(serve);
      ADD_FAILURE() << "it hangs";
    } catch (const Error& e) {
      EXPECT_TRUE(has(e.what(), "component 'serve' cannot be stopped: callback '/orders' of component 'serve'"))
          << e.what();
    }
    EXPECT_EQ(servant(client).name, "serve") << "the process still answers";
  }
}

TEST_F(HostOrders, AComponentIsRestartedByHand) {
  if (!kHasCommand) GTEST_SKIP() << "this build has no command";
  Child child = host(file(fmt::format(R"("tick": {}, "serve": {})", component("Ticker"), component("Servant")),
                          R"("restart": {"limit": 0})"));
  Subscriber said{kSaid};
  ControlClient client({.timeout = 20s});
  order(Order::Answer);
  ASSERT_TRUE(said.wait(30s));
  client.set_parameter(servant(client), "people", std::int64_t{8});
  const Outcome done = run({"component", "restart", "serve", "--json"});
  ASSERT_EQ(done.code, 0) << done.text;
  EXPECT_EQ(json::parse(done.text)["restarts"], 1);
  EXPECT_EQ(json::parse(done.text)["pid"], child.pid()) << "its process continues";
  EXPECT_EQ(people(client), config::Value(std::int64_t{4})) << "as the file says";
  order(Order::Answer);
  const auto answer = said.wait(30s);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->value, 1) << "a new object";

  const Outcome wrong = run({"component", "restart", "serv"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_TRUE(has(wrong.text, "did you mean 'serve'?")) << wrong.text;
  EXPECT_EQ(run({"component", "restart"}).code, 2);

  // One that hangs cannot be stopped: that is reported, and the process still answers.
  order(Order::Hang);
  ASSERT_TRUE(eventually([&] { return servant(client).callbacks.at(0).running_since > 1'100'000'000; }, 30s));
  const Outcome hangs = run({"component", "restart", "serve"});
  EXPECT_EQ(hangs.code, 1);
  EXPECT_TRUE(has(hangs.text, "callback '/orders' of component 'serve' has been running for") &&
              has(hangs.text, "cardan run --restart p"))
      << hangs.text;
  EXPECT_EQ(servant(client).name, "serve");
}

TEST_F(HostOrders, MessagesOfAComponentHaveALevel) {
  if (!kHasCommand) GTEST_SKIP() << "this build has no command";
  Child child = host(file(fmt::format(R"("serve": {})", component("Servant"))));
  Subscriber said{kSaid};
  const auto speaks = [&] {
    order(Order::Speak);
    ASSERT_TRUE(said.wait(30s));
  };
  speaks();
  EXPECT_EQ(run({"component", "log", "serve", "warning"}).text, "serve: warning\n");
  speaks();
  speaks();
  EXPECT_EQ(run({"component", "log", "serve", "info"}).code, 0);
  speaks();
  EXPECT_EQ(run({"component", "log", "serve", "debug"}).text, "serve: debug\n");
  speaks();
  EXPECT_EQ(run({"component", "log", "serve", "loud"}).code, 2);
  EXPECT_EQ(run({"component", "log", "nobody", "info"}).code, 1);
  child.signal(SIGTERM);
  const std::string log = rest(child);
  EXPECT_EQ(child.end(), 0);
  EXPECT_EQ(count(log, "info: serve: the servant speaks"), 3U) << log;
  EXPECT_EQ(count(log, "debug: serve: the servant whispers"), 1U) << log;
}

TEST_F(HostOrders, ParametersAreSavedAndReadAgain) {
  if (!kHasCommand) GTEST_SKIP() << "this build has no command";
  const std::string two = file(fmt::format(R"("one": {}, "two": {})", component("Servant"), component("Ticker")));
  const std::string to = run_directory() + "/saved.json";
  std::filesystem::remove(to);
  {
    Child child = host(two);
    for (const auto& [name, value] : {std::pair{"one/people", "8"}, std::pair{"one/threshold", "1"}}) {
      const Outcome set = run({"param", "set", name, value});
      ASSERT_EQ(set.code, 0) << set.text;
    }
    const Outcome saved = run({"param", "save", to});
    EXPECT_EQ(saved.code, 0) << saved.text;
    EXPECT_TRUE(has(saved.text, "4 parameters of 2 components")) << saved.text;
    const Outcome again = run({"param", "save", to});
    EXPECT_EQ(again.code, 1) << "it is there already";
    EXPECT_TRUE(has(again.text, "--force")) << again.text;
    EXPECT_EQ(run({"param", "save", to, "--force"}).code, 0);
    EXPECT_EQ(run({"param", "save", run_directory() + "/x.json", "three"}).code, 1);
    EXPECT_EQ(run({"param", "save", "/nowhere/x.json"}).code, 1);
    child.signal(SIGTERM);
    EXPECT_EQ(child.end(), 0);
  }
  std::ifstream in(to);
  EXPECT_EQ(json::parse(in)["parameters"],
            json::parse(R"({"one": {"model": "small", "night": false, "people": 8, "threshold": 1.0}, "two": {}})"));
  Child launcher("cardan", {"run", two, "--no-view", "--parameters", to, "--set", "one/night=true"});
  ControlClient client({.timeout = 20s});
  host::DomainComponents all;
  ASSERT_TRUE(eventually([&] { return (all = client.components()).components.size() == 2; }, 60s));
  EXPECT_EQ(run({"param", "get", "one/people"}).text, "8\n");
  EXPECT_EQ(run({"param", "get", "one/night"}).text, "true\n") << "--set comes after them";
  launcher.signal(SIGTERM);
  const std::string log = rest(launcher);
  EXPECT_EQ(launcher.end(), 0) << log;
  std::ofstream(to) << R"({"parameters": {"one": {"people": [[1]]}}})";
  EXPECT_EQ(run({"run", two, "--parameters", to}).code, 2) << "no parameter is like that";
  std::ofstream(to) << R"({"parameters": {"one": {"people": [1]}}})";
  EXPECT_EQ(run({"run", two, "--parameters", to}).code, 1) << "this one is not";
}

TEST_F(HostOrders, RepeatedExceptionsAreCountedInsteadOfRepeated) {
  Child child = host(file(fmt::format(R"("serve": {})", component("Servant"))));
  for (int i = 0; i < 50; ++i) order(Order::Throw);
  ControlClient client({.timeout = 20s});
  ASSERT_TRUE(eventually([&] { return servant(client).callbacks.at(0).failures == 50; }, 30s));
  child.signal(SIGTERM);
  const std::string log = rest(child);
  EXPECT_EQ(child.end(), 0);
  EXPECT_EQ(count(log, "serve: callback '/orders' threw: the servant is tired"), 1U) << log;
  EXPECT_LE(count(log, "the servant is tired"), 10U) << log;  // one more for each 10 s that it took
  EXPECT_TRUE(has(log, "serve: callback '/orders' threw the same ")) << log;
}

}  // namespace
}  // namespace cardan::test
