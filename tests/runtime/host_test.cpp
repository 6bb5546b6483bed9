// SPDX-License-Identifier: Apache-2.0
// `cardan host`, `cardan param` and `cardan component` as their users run them.
#include "src/system/host/control_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>

#include "cardan/error.hpp"
#include "tests/runtime/host_support.hpp"

namespace cardan::test {
namespace {

using namespace std::chrono_literals;
using host::ComponentReport;
using host::ControlClient;
using nlohmann::json;

class Host : public Hosts {};

TEST_F(Host, StopsInReverseOrderWithSigtermAndWithCtrlC) {
  const std::string two = file(fmt::format(R"("one": {}, "two": {})", component("Servant"), component("Ticker")));
  for (const int signal : {SIGTERM, SIGINT}) {
    Child child = host(two);
    child.signal(signal);
    child.signal(signal);  // the launcher's, in addition to the terminal's
    EXPECT_EQ(child.expect("two"), "stops");
    EXPECT_EQ(child.expect("one"), "stops");
    EXPECT_EQ(child.end(), 0);
  }
}

TEST_F(Host, AFailedStartSaysWhyAndWhatToDo) {
  const auto outcome = [&](const std::string& components, const char* process = "p") {
    return run({"host", file(components), "--process", process});
  };
  Outcome said = outcome(fmt::format(R"("one": {}, "two": {})", component("Servant"), component("Refuser")));
  EXPECT_EQ(said.code, 1);
  EXPECT_TRUE(has(said.text, "component 'two' did not start: no camera is plugged in")) << said.text;
  EXPECT_TRUE(has(said.text, "one stops")) << "it had started: " << said.text;

  said = outcome(fmt::format(R"("one": {})", component("Servont")));
  EXPECT_EQ(said.code, 1);
  EXPECT_TRUE(has(said.text, "unknown component class 'Servont'") && has(said.text, "Servant")) << said.text;

  said = outcome(R"("one": {"library": "libnowhere.so", "class": "Servant"})");
  EXPECT_EQ(said.code, 1);
  EXPECT_TRUE(has(said.text, "libnowhere.so")) << said.text;

  said = outcome(fmt::format(R"("one": {})", component("Servant", R"("parameters": {"threshold": 7.5})")));
  EXPECT_EQ(said.code, 1);
  EXPECT_TRUE(has(said.text, "7.5 is above its maximum")) << said.text;

  said = outcome(fmt::format(R"("one": {})", component("Servant")), "q");
  EXPECT_EQ(said.code, 1);
  EXPECT_TRUE(has(said.text, "no process 'q'")) << said.text;

  EXPECT_EQ(run({"host", "/nowhere.json", "--process", "p"}).code, 2);
}

TEST_F(Host, LibrariesAreFoundNextToTheFile) {
  const std::string folder = run_directory() + "/beside";
  std::filesystem::create_directories(folder);
  std::filesystem::remove(folder + "/libbeside.so");
  std::filesystem::create_symlink(CARDAN_TEST_COMPONENTS, folder + "/libbeside.so");
  const std::string name = folder + "/file.json";
  std::ofstream(name) << fmt::format(
      R"({{"domain": "{}", "processes": {{"p": {{"components": {{"one": {{"library": "libbeside.so", "class": "Ticker"}}}}}}}}}})",
      domain_);
  Child child = host(name);
  child.signal(SIGTERM);
  EXPECT_EQ(child.end(), 0);
}

TEST_F(Host, ParametersAreListedSetAndRefused) {
  if (!kHasCommand) GTEST_SKIP() << "this build has no command";
  Child child = host(file(fmt::format(R"("one": {}, "two": {})", component("Servant", R"("parameters": {"people": 6})"),
                                      component("Ticker"))));
  const json list = json::parse(run({"param", "list", "--json"}).text)["parameters"];
  ASSERT_EQ(list.size(), 4U);
  const auto people = std::find_if(list.begin(), list.end(), [](const json& p) { return p["parameter"] == "people"; });
  ASSERT_NE(people, list.end());
  EXPECT_EQ((*people)["component"], "one");
  EXPECT_EQ((*people)["type"], "int");
  EXPECT_EQ((*people)["value"], 6);
  EXPECT_EQ((*people)["max"], 100);
  EXPECT_EQ((*people)["description"], "how many at most");
  EXPECT_EQ((*people)["process"], "p");
  EXPECT_EQ((*people)["pid"], child.pid());
  EXPECT_EQ(run({"param", "list", "--names"}).text, "one/model\none/night\none/people\none/threshold\n");

  const auto ask = [&](const Args& words, int code) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, code) << outcome.text;
    return outcome.text;
  };
  EXPECT_EQ(ask({"param", "get", "one/people"}, 0), "6\n");
  EXPECT_EQ(ask({"param", "set", "one/people", "8"}, 0), "one/people = 8\n");
  EXPECT_EQ(ask({"param", "get", "one/people"}, 0), "8\n");
  EXPECT_EQ(json::parse(ask({"param", "set", "one/threshold", "1", "--json"}, 0))["before"], 0.5);
  EXPECT_EQ(json::parse(ask({"param", "get", "one/threshold", "--json"}, 0))["type"], "double") << "a whole number";
  EXPECT_EQ(ask({"param", "set", "one/night", "true"}, 0), "one/night = true\n");

  EXPECT_TRUE(has(ask({"param", "set", "one/people", "9"}, 1), "people come in pairs"));
  EXPECT_TRUE(has(ask({"param", "set", "one/people", "102"}, 1), "102 is above its maximum 100"));
  EXPECT_TRUE(has(ask({"param", "set", "one/people", "--", "-2"}, 1), "-2 is below its minimum 0"));
  EXPECT_TRUE(
      has(ask({"param", "set", "one/people", "many"}, 1), "parameter 'one/people' is an integer, and 'many' is not"));
  EXPECT_TRUE(has(ask({"param", "set", "one/model", "big"}, 1), "cannot be changed while running"));
  EXPECT_TRUE(has(ask({"param", "set", "one/peple", "8"}, 1), "did you mean 'people'?"));
  EXPECT_TRUE(has(ask({"param", "set", "onne/people", "8"}, 1), "did you mean 'one'?"));
  EXPECT_TRUE(has(ask({"param", "get", "one"}, 1), "one/PARAMETER"));
  EXPECT_TRUE(has(ask({"param", "list", "three"}, 1), "no component 'three'"));
  EXPECT_EQ(ask({"param", "get", "one/people"}, 0), "8\n") << "as it was";
  ask({"param", "set", "one/people"}, 2);
  child.signal(SIGTERM);
  EXPECT_EQ(child.end(), 0);
}

TEST_F(Host, ComponentsAndWhatTheyCost) {
  if (!kHasCommand) GTEST_SKIP() << "this build has no command";
  Child child = host(file(fmt::format(R"("count": {}, "tick": {}, "serve": {})", component("Counter"),
                                      component("Ticker"), component("Servant"))));
  const json list = json::parse(run({"component", "list", "--json"}).text)["components"];
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0]["component"], "count");
  EXPECT_EQ(list[0]["class"], "Counter");
  EXPECT_EQ(list[0]["pid"], child.pid());
  EXPECT_EQ(list[0]["callbacks"][0]["topic"], "/ticks");
  EXPECT_EQ(list[1]["callbacks"][0]["kind"], "timer");
  EXPECT_EQ(run({"component", "list", "--names"}).text, "count\ntick\nserve\n");

  const Outcome measured = run({"component", "stats", "--once", "--seconds", "0.5", "--json"});
  EXPECT_TRUE(measured.code == 0 || measured.code == 3) << measured.text;  // a loaded computer may drop a sample
  const json stats = json::parse(measured.text)["components"];
  ASSERT_EQ(stats.size(), 3U);
  const json& ticks = stats[0]["callbacks"][0];
  EXPECT_GT(ticks["calls"], 0);
  EXPECT_GE(ticks["calls_total"], ticks["calls"]);
  EXPECT_GT(ticks["rate_hz"], 0);
  for (const char* latency : {"transport_us", "waiting_us", "running_us"}) {
    ASSERT_TRUE(ticks[latency].is_object()) << latency;
    EXPECT_GT(ticks[latency]["samples"], 0) << latency;
    EXPECT_LE(ticks[latency]["p50"], ticks[latency]["p99"]) << latency;
    EXPECT_GT(ticks[latency]["max_ever"], 0) << latency;
  }
  EXPECT_EQ(ticks["queue"], 64);
  EXPECT_EQ(ticks["failures"], 0);
  const json& timer = stats[1]["callbacks"][0];
  EXPECT_GT(timer["calls"], 0);
  EXPECT_TRUE(timer["transport_us"].is_null());
  EXPECT_GT(stats[1]["outputs"][0]["published"], 0);
  EXPECT_EQ(stats[1]["outputs"][0]["readers_here"], 1);
  EXPECT_EQ(stats[2]["callbacks"][0]["calls"], 0) << "nobody gave orders";

  const Outcome one = run({"component", "stats", "tick", "--once", "--seconds", "0.2"});
  EXPECT_EQ(one.code, 0) << one.text;
  EXPECT_TRUE(has(one.text, "tick ") && has(one.text, "→ /ticks") && !has(one.text, "count")) << one.text;
  const Outcome wrong = run({"component", "stats", "tock", "--once"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_TRUE(has(wrong.text, "did you mean 'tick'?")) << wrong.text;
}

TEST_F(Host, DropsAreCountedWithTheirCause) {
  // The servant is stuck in its first order while more come than its queue holds; the second worker takes them.
  Child child =
      host(file(fmt::format(R"("serve": {})", component("Servant")), R"("groups": {"main": {"workers": 2}})"));
  TopicOptions unreliable = kOrders.options;
  unreliable.reliable = false;
  Publisher orders{Topic<Number>{"/orders", unreliable}};
  ASSERT_TRUE(eventually([&] { return orders.subscribers() == 1; }));
  orders.publish({static_cast<std::int64_t>(Order::Hang)});
  ControlClient client({.timeout = 20s});
  const auto callback = [&] { return client.components().components.at(0).callbacks.at(0); };
  ASSERT_TRUE(eventually([&] { return callback().running_since > 0; }));
  ASSERT_TRUE(eventually(
      [&] {
        orders.publish({0});
        return callback().queue_full + callback().missed > 0;
      },
      30s));
  EXPECT_EQ(callback().calls, 1U);
  EXPECT_EQ(callback().queued, 64U);
  const ComponentReport servant = client.components().components.at(0);
  try {
    client.set_parameter(servant, "people", std::int64_t{2});
    ADD_FAILURE() << "its component hangs";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::Unavailable) << e.what();
  }
}

TEST_F(Host, ComponentsMarkTheirCycles) {
  Subscriber hints{kCycles};
  Child child = host(file(fmt::format(R"("count": {}, "tick": {}, "serve": {})", component("Counter", R"("cycle": {})"),
                                      component("Ticker", R"("cycle": {"weight": 4})"),
                                      component("Servant", R"("cycle": {"callback": "/orders"})"))));
  std::map<std::string, CycleHint> seen;
  ASSERT_TRUE(eventually([&] {
    while (const auto hint = hints.take()) seen[std::string(hint->name.view())] = *hint;
    return seen["tick"].count > 20 && seen["count"].count > 5;
  }));
  EXPECT_EQ(seen["tick"].period_ns, 2'000'000);
  EXPECT_EQ(seen["tick"].weight, 4);
  EXPECT_GT(seen["count"].worked_ns, 0);
  EXPECT_EQ(seen["serve"].count, 0U) << "nobody gave orders";
  child.signal(SIGTERM);
  EXPECT_EQ(child.end(), 0);

  const Outcome said =
      run({"host", file(fmt::format(R"("tick": {})", component("Ticker", R"("cycle": {"callback": "tock"})"))),
           "--process", "p"});
  EXPECT_EQ(said.code, 1);
  EXPECT_TRUE(has(said.text, "component 'tick' did not start: it has no callback 'tock'")) << said.text;
}

TEST_F(Host, LongAnswersTravelInParts) {
  std::string many;
  for (int i = 0; i < 40; ++i) many += fmt::format("{}\"servant{}\": {}", i == 0 ? "" : ", ", i, component("Servant"));
  Child child = host(file(many));
  ControlClient client({.timeout = 20s});
  const host::DomainComponents all = client.components();
  EXPECT_TRUE(all.problems.empty());
  ASSERT_EQ(all.components.size(), 40U);
  EXPECT_GT(host::to_json(all.components).size(), 16384U);
  EXPECT_EQ(all.components.back().name, "servant39");
  EXPECT_EQ(all.components.back().parameters.size(), 4U);
}

TEST_F(Host, AComponentThatDoesNotAnswerIsReported) {
  Child awake = host(file(fmt::format(R"("one": {})", component("Servant"))));
  Child asleep = host(file(fmt::format(R"("two": {})", component("Servant"))));
  ControlClient client({.timeout = 300ms});
  ASSERT_TRUE(eventually([&] { return client.components().hosts == 2; }));
  asleep.signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return is_stopped(asleep.pid()); }));
  host::DomainComponents all;
  ASSERT_TRUE(eventually([&] { return (all = client.components()).problems.size() == 1 && all.hosts == 1; }));
  EXPECT_TRUE(has(all.problems[0], std::to_string(asleep.pid()))) << all.problems[0];
  EXPECT_EQ(std::count_if(all.components.begin(), all.components.end(), [](const auto& c) { return c.name == "one"; }),
            1);
  asleep.signal(SIGCONT);
  EXPECT_TRUE(eventually([&] { return client.components().hosts == 2; }));
}

}  // namespace
}  // namespace cardan::test
