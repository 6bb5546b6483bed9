// SPDX-License-Identifier: Apache-2.0
#include "src/system/plan/adjust.hpp"

#include <gtest/gtest.h>

#include "cardan/error.hpp"

namespace cardan::plan {
namespace {

constexpr std::string_view kFile = R"({
  "name": "street",
  "processes": {
    "sensors": {
      "components": {
        "camera": {"library": "l.so", "class": "Camera"},
        "lidar": {"library": "l.so", "class": "Lidar", "group": "slow"}
      },
      "groups": {"slow": {"workers": 2}},
      "environment": {"A": "1", "B": "1"},
      "memory_mib": 100,
      "restart": {"limit": 7}
    },
    "perception": {
      "components": {
        "detector": {"library": "l.so", "class": "Detector", "parameters": {"threshold": 0.5}},
        "decision": {"library": "l.so", "class": "Decision", "thread": {}}
      },
      "groups": {"main": {"workers": 4}},
      "environment": {"B": "2"},
      "memory_mib": 50
    }
  },
  "states": {
    "transitions": [
      {"from": "running", "when": {"down": ["sensors", "perception", "camera"], "for_ms": 300}, "to": "degraded"},
      {"from": "running", "when": {"silent": "/sensors", "for_ms": 300}, "to": "safe_stop"}
    ]
  }
})";

config::Configuration file() {
  std::vector<config::Problem> problems;
  auto configuration = config::parse_configuration(kFile, "street.json", problems);
  for (const auto& problem : problems) ADD_FAILURE() << text(problem, "street.json");
  return configuration;
}

TEST(OneProcess, HasAllComponentsAndAsManyWorkers) {
  auto given = file();
  given.transitions.push_back({.when = {.kind = config::Condition::Kind::Late, .names = {"sensors"}}});
  const auto c = one_process(given);
  EXPECT_EQ(c.transitions.back().when.names, std::vector<std::string>{"sensors"}) << "a chain, not the process";
  ASSERT_EQ(c.processes.size(), 1U);
  const config::Process& all = c.processes[0];
  EXPECT_EQ(all.name, "all");
  std::vector<std::string> names;
  for (const auto& component : all.components) names.push_back(component.name);
  EXPECT_EQ(names, (std::vector<std::string>{"camera", "lidar", "detector", "decision"}));
  EXPECT_EQ(all.component("camera")->group, "sensors.main");
  EXPECT_EQ(all.component("lidar")->group, "sensors.slow");
  EXPECT_EQ(all.component("detector")->group, "perception.main");
  ASSERT_NE(all.group("sensors.main"), nullptr) << "a separate pool, though the file did not name it";
  EXPECT_EQ(all.group("sensors.main")->worker_count(), 1);
  EXPECT_EQ(all.group("sensors.slow")->worker_count(), 2);
  EXPECT_EQ(all.group("perception.main")->worker_count(), 4);
  EXPECT_TRUE(all.component("decision")->thread.has_value());
}

TEST(OneProcess, TakesTheRestAlong) {
  const auto c = one_process(file());
  const config::Process& all = c.processes[0];
  EXPECT_EQ(all.environment, (std::map<std::string, std::string>{{"A", "1"}, {"B", "2"}}));
  EXPECT_EQ(all.memory_bytes, 150U << 20U);
  EXPECT_EQ(all.restart.limit, 7);
  EXPECT_EQ(c.transitions[0].when.names, (std::vector<std::string>{"all", "camera"}));
  EXPECT_EQ(c.transitions[1].when.names, (std::vector<std::string>{"/sensors"})) << "a topic is not a process";
}

TEST(OneProcess, WithoutALimitOfOneAllHaveNoLimit) {
  auto c = file();
  c.processes[0].memory_bytes = 0;
  EXPECT_EQ(one_process(std::move(c)).processes[0].memory_bytes, 0U);
}

TEST(OneProcess, AComponentMayBeCalledAll) {
  auto c = file();
  c.processes[0].components[0].name = "all";
  EXPECT_EQ(one_process(std::move(c)).processes[0].name, "all_");
}

TEST(OneProcess, BridgesStayProcessesOfTheirOwn) {
  auto c = file();
  c.processes.insert(c.processes.begin(), {.name = "all", .bridge = config::Bridge{.kind = "dds"}});
  c.transitions[0].when.names = {"all", "sensors"};
  const auto one = one_process(c);
  ASSERT_EQ(one.processes.size(), 2U);
  EXPECT_EQ(one.processes[0].name, "all_");
  EXPECT_EQ(one.processes[0].components.size(), 4U);
  EXPECT_EQ(one.processes[0].restart.limit, 7) << "that of the first one with components";
  EXPECT_EQ(one.processes[1].name, "all");
  EXPECT_EQ(one.processes[1].bridge->kind, "dds");
  EXPECT_EQ(one.transitions[0].when.names, (std::vector<std::string>{"all", "all_"}));
}

TEST(OneProcess, AFileOfOneStaysAsItIs) {
  auto c = file();
  c.processes.pop_back();
  EXPECT_EQ(one_process(c).processes, c.processes);
}

TEST(SetParameter, EachType) {
  auto c = file();
  for (const char* assignment :
       {"detector/threshold=0.75", "detector/people=-3", "detector/night=true", "detector/model=small",
        "detector/code=\"12\"", "detector/path=/a=b", "detector/empty=", "detector/word=nan", "detector/gains=[1, 2.5]",
        "detector/ids=[1,2]", "detector/names=[\"a\", \"b\"]", "detector/bits=[true]", "detector/none=[]",
        "detector/brackets=[a]"})
    set_parameter(c, assignment);
  const std::map<std::string, config::Value> expected{{"threshold", 0.75},
                                                      {"people", std::int64_t{-3}},
                                                      {"night", true},
                                                      {"model", std::string("small")},
                                                      {"code", std::string("12")},
                                                      {"path", std::string("/a=b")},
                                                      {"empty", std::string()},
                                                      {"word", std::string("nan")},
                                                      {"gains", std::vector<double>{1, 2.5}},
                                                      {"ids", std::vector<std::int64_t>{1, 2}},
                                                      {"names", std::vector<std::string>{"a", "b"}},
                                                      {"bits", std::vector<bool>{true}},
                                                      {"none", std::vector<double>{}},
                                                      {"brackets", std::string("[a]")}};
  EXPECT_EQ(c.component("detector")->parameters, expected);
  for (const auto& [name, value] : expected) {
    auto again = file();
    set_parameter(again, assignment_of("detector", name, value));
    EXPECT_EQ(again.component("detector")->parameters.at(name), value) << name;
  }
}

TEST(Remap, EverythingOfTheFileFollowsAtOnce) {
  auto c = file();
  c.processes[0].components[0].topics = {{"/in", "/sensors"}, {"/out", "/b"}};
  c.topics = {{"/a", {.depth = 1}}, {"/b", {.depth = 2}}, {"/sensors", {.depth = 3}}};
  c.processes[1].record = config::Record{
      .topics = {"/a", "/a*"}, .exclude = {"/b"}, .on = config::RecordTrigger{.silent = {"/a"}, .messages = {"/c"}}};
  c.chains = {{.name = "way", .from = "/a", .to = "/sensors"}};
  remap_topics(c, {"/a:=/b", "/b:=/a", "/sensors:=/a/b"});
  EXPECT_EQ(c.chains[0].from, "/b");
  EXPECT_EQ(c.chains[0].to, "/a/b");
  const config::Component& first = c.processes[0].components[0];
  EXPECT_EQ(first.bus_name("/in"), "/a/b");
  EXPECT_EQ(first.bus_name("/out"), "/a");
  EXPECT_EQ(first.bus_name("/a"), "/b");
  EXPECT_EQ(first.bus_name("/other"), "/other");
  EXPECT_EQ(c.topics.at("/b").depth, 1U);
  EXPECT_EQ(c.topics.at("/a").depth, 2U);
  EXPECT_EQ(c.topics.at("/a/b").depth, 3U);
  EXPECT_EQ(c.transitions.back().when.names, std::vector<std::string>{"/a/b"});
  EXPECT_EQ(c.processes[1].record->topics, (std::vector<std::string>{"/b", "/a*"}));
  EXPECT_EQ(c.processes[1].record->exclude, std::vector<std::string>{"/a"});
  EXPECT_EQ(c.processes[1].record->on->silent, std::vector<std::string>{"/b"});
  auto own = file();
  own.topics = {{"/a", {.depth = 1}}, {"/b", {.depth = 2}}};
  remap_topics(own, {"/a:=/b"});
  EXPECT_EQ(own.topics.at("/b").depth, 2U) << "what the file says of the new name holds";
  for (const char* wrong : {"/a", "a:=/b", "/a:=b", "/a:=", ":=/a", "/cardan/state:=/a", "/a:=/cardan/x"})
    EXPECT_THROW(remap_topics(own, {wrong}), Error) << wrong;
  EXPECT_THROW(remap_topics(own, {"/a:=/b", "/a:=/c"}), Error);
  own.chains = {{.name = "way", .from = "/b", .to = "/c"}};
  EXPECT_THROW(remap_topics(own, {"/b:=/c"}), Error) << "the chain would begin where it ends";
}

TEST(SetParameter, AProblemOfTheValueNamesTheOption) {
  auto c = file();
  const std::string pointer = c.component("detector")->pointer + "/parameters/threshold";
  const auto told = [&] {
    return config::text(config::problem_at(c, pointer, config::Severity::Error, "it is wrong", "change it"),
                        "street.json");
  };
  EXPECT_EQ(told(), "street.json:16:90: error: it is wrong — change it");
  set_parameter(c, "detector/threshold=7");
  EXPECT_EQ(told(), "--set detector/threshold=7: error: it is wrong — change it");
}

TEST(SetParameter, SaysWhatIsWrong) {
  auto c = file();
  for (const char* wrong : {"", "detector", "detector/threshold", "threshold=1", "/x=1", "detector/=1", "detector=a/b"})
    EXPECT_THROW(set_parameter(c, wrong), Error) << wrong;
  try {
    set_parameter(c, "detektor/threshold=1");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::InvalidArgument);
    EXPECT_EQ(e.cause(), "'detektor/threshold=1' names component 'detektor', which is not in the file");
    EXPECT_EQ(e.remedy(), "the file has: camera, lidar, detector, decision");
  }
  EXPECT_EQ(c.processes, file().processes) << "nothing was changed";
}

}  // namespace
}  // namespace cardan::plan
