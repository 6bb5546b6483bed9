// SPDX-License-Identifier: Apache-2.0
// Chains of a configuration: how they are read, composed and checked, and their ways through the components.
#include <gtest/gtest.h>

#include <map>

#include "cardan/error.hpp"
#include "src/config/chain_way.hpp"
#include "src/config/street_file_test.hpp"

namespace cardan::config::chains_test {
namespace {

using std::chrono::milliseconds;
using Names = std::vector<std::string>;

/// A file whose chains are in line 3 and whose transitions begin in line 5.
std::string file(const std::string& chains, const std::string& transitions = "", const std::string& more = "") {
  return "{" + more + "\n\"chains\": {\n" + chains + "},\n\"states\": {\"transitions\": [\n" + transitions + "]},\n" +
         R"("processes": {"p": {"components": {"camera": {"library": "l", "class": "C"},)" + "\n" +
         R"("detector": {"library": "l", "class": "C"}, "decision": {"library": "l", "class": "C"}}}}})";
}

const std::string kBrake = R"("brake": {"from": "/image", "to": "/command", "budget_ms": 60.5})";

Configuration read(const std::string& text, const std::map<std::string, std::string>& files = {},
                   std::vector<std::string> variables = {}) {
  std::vector<Problem> problems;
  Configuration c =
      parse_configuration(text, "street.json", problems,
                          {.variables = std::move(variables), .read = [&](const std::string& path, std::size_t) {
                             if (!files.contains(path))
                               throw Error(ErrorCode::InvalidArgument, "cannot read " + path, "");
                             return files.at(path);
                           }});
  EXPECT_TRUE(problems.empty()) << shown(problems);
  return c;
}

TEST(Chains, AreReadWithTheirConditions) {
  const Configuration c =
      read(file(kBrake + R"(, "log": {"from": "/image", "to": "/log"})",
                R"({"from": "running", "when": {"late": "brake", "times": 3, "within_ms": 1000}, "to": "degraded"},
                   {"when": {"late": ["brake"]}, "to": "safe_stop"},
                   {"from": ["degraded", "safe_stop"], "when": {"in_time": "brake", "for_ms": 2000}, "to": "running"})"));
  ASSERT_EQ(c.chains.size(), 2U);
  EXPECT_EQ(c.chains[0], (Chain{.name = "brake",
                                .from = "/image",
                                .to = "/command",
                                .budget = std::chrono::microseconds{60'500},
                                .pointer = "/chains/brake"}));
  EXPECT_EQ(c.chains[1].budget.count(), 0);
  ASSERT_EQ(c.transitions.size(), 3U);
  EXPECT_EQ(c.transitions[0].when,
            (Condition{.kind = Condition::Kind::Late, .names = {"brake"}, .lasting = milliseconds{1000}, .times = 3}));
  EXPECT_EQ(c.transitions[1].when, (Condition{.kind = Condition::Kind::Late, .names = {"brake"}}));
  EXPECT_EQ(c.transitions[2].when,
            (Condition{.kind = Condition::Kind::InTime, .names = {"brake"}, .lasting = milliseconds{2000}}));
}

struct Wrong {
  const char* name;
  std::string chains, transition;
  Mistake mistake;
};

void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.name; }

class WrongChains : public testing::TestWithParam<Wrong> {};

TEST_P(WrongChains, AreReportedWithPlaceAndRemedy) {
  const Wrong& wrong = GetParam();
  const std::string text = file(wrong.chains, wrong.transition);
  expect_the_one(problems_of(text), text, wrong.mistake);
}

std::string nine_beginnings() {
  std::string all = kBrake;
  for (int i = 0; i < 8; ++i)
    all += ",\n\"c" + std::to_string(i) + R"(": {"from": "/)" + std::to_string(i) + R"(", "to": "/x"})";
  return all;
}

std::string when(const std::string& condition) { return R"({"when": {)" + condition + R"(}, "to": "safe_stop"})"; }

#define WHEN "/states/transitions/0/when"
const Wrong kWrong[] = {
    {"without_an_end", R"("a": {"from": "/x"})", "", {"", "", "", 3, "/chains/a", "has no 'to'", R"(add "to")"}},
    {"not_a_topic",
     R"("a": {"from": "x", "to": "/y"})",
     "",
     {"", "", "", 3, "/chains/a/from", "is not a valid name of a topic", "start with '/'"}},
    {"negative_budget",
     R"("a": {"from": "/x", "to": "/y", "budget_ms": -1})",
     "",
     {"", "", "", 3, "/chains/a/budget_ms", "-1", "0"}},
    {"circle",
     R"("a": {"from": "/x", "to": "/x"})",
     "",
     {"", "", "", 3, "/chains/a/to", "chain 'a' begins and ends on '/x'", "where it ends"}},
    {"twice",
     kBrake + ", " + kBrake,
     "",
     {"", "", "", 3, "/chains/brake", "'brake' is given twice", "remove or rename one"}},
    {"nine_beginnings",
     nine_beginnings(),
     "",
     {"", "", "", 11, "/chains/c7/from", "begin on more than 8 topics", "on the same topic"}},
    {"unknown_chain",
     kBrake,
     when(R"("late": "breake")"),
     {"", "", "", 5, WHEN "/late", "'late' of the transition names 'breake', which is not a chain",
      "did you mean 'brake'?"}},
    {"unknown_chain_in_a_list",
     kBrake,
     when(R"("in_time": ["brake", "x"], "for_ms": 1)"),
     {"", "", "", 5, WHEN "/in_time/1", "names 'x', which is not a chain", "there is 'brake'"}},
    {"no_budget",
     R"("a": {"from": "/x", "to": "/y"})",
     when(R"("late": "a")"),
     {"", "", "", 5, WHEN "/late", "names chain 'a', which has no budget", R"(add "budget_ms" to it in line 3)"}},
    {"in_time_for_how_long",
     kBrake,
     when(R"("in_time": "brake")"),
     {"", "", "", 5, WHEN "/in_time", "'in_time' of 'brake' has no duration", R"(add "for_ms")"}},
    {"times_without_time",
     kBrake,
     when(R"("late": "brake", "times": 3)"),
     {"", "", "", 5, WHEN "/times", "'within_ms' of 3 publications is not given", R"(add "within_ms")"}},
    {"late_for",
     kBrake,
     when(R"("late": "brake", "for_ms": 3)"),
     {"", "", "", 5, WHEN "/for_ms", "'for_ms' does not apply to 'late'", "'within_ms'"}},
    {"times_of_processes",
     kBrake,
     when(R"("down": "p", "times": 3)"),
     {"", "", "", 5, WHEN "/times", "'times' does not apply to 'down'", "'late'"}},
    {"within_of_processes",
     kBrake,
     when(R"("in_time": "brake", "for_ms": 9, "within_ms": 3)"),
     {"", "", "", 5, WHEN "/within_ms", "'within_ms' does not apply to 'in_time'", "'late'"}},
    {"too_many_times",
     kBrake,
     when(R"("late": "brake", "times": 1001, "within_ms": 3)"),
     {"", "", "", 5, WHEN "/times", "1001", "1000"}},
};
#undef WHEN

std::string name_of_wrong(const testing::TestParamInfo<Wrong>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(All, WrongChains, testing::ValuesIn(kWrong), name_of_wrong);

TEST(Chains, OtherCountsAndTimesAreOtherConditions) {
  const std::string first = R"({"when": {"late": "brake", "times": 2, "within_ms": 100}, "to": "degraded"},)";
  EXPECT_TRUE(problems_of(file(kBrake, first + when(R"("late": "brake", "times": 9, "within_ms": 100)"))).empty());
  EXPECT_TRUE(problems_of(file(kBrake, first + when(R"("late": "brake", "times": 2, "within_ms": 900)"))).empty());
  EXPECT_EQ(problems_of(file(kBrake, first + when(R"("late": "brake", "times": 2, "within_ms": 100)"))).size(), 1U);
}

TEST(Chains, GetTheNamespaceOfTheirFile) {
  const std::string rear = R"({"variables": {"budget": 50, "watched": true}, "processes": {"q": {)" + kOneComponent +
                           R"(}}, "chains": {"brake": {"from": "/image", "to": "/command", "budget_ms": "${budget}",
                           "when": "watched"}},
                           "states": {"transitions": [{"when": {"late": "brake"}, "to": "degraded"}]}})";
  const auto include = [](const std::string& entry) {
    return R"("variables": {"rear": true}, "include": [{"file": "rear.json", )" + entry + "}],";
  };
  const std::string outer = R"(, "whole": {"from": "/rear/command", "to": "/command", "budget_ms": 9})";
  const std::string late = R"({"when": {"late": ["brake", "whole", "rear.brake"]}, "to": "safe_stop"})";
  const std::string text = file(
      kBrake + outer, late,
      include(R"("namespace": "rear", "when": "rear", "variables": {"budget": 70}, "topics": {"/image": "/image"})"));
  const Configuration c = read(text, {{"rear.json", rear}});
  ASSERT_EQ(c.chains.size(), 3U);
  const Chain* chain = nullptr;
  for (const Chain& one : c.chains)
    if (one.name == "rear.brake") chain = &one;
  ASSERT_NE(chain, nullptr);
  EXPECT_EQ(chain->from, "/image") << "the include says so";
  EXPECT_EQ(chain->to, "/rear/command");
  EXPECT_EQ(chain->budget, milliseconds{70});
  ASSERT_EQ(c.transitions.size(), 2U);
  EXPECT_EQ(c.transitions[1].when.names, Names{"rear.brake"});

  const Configuration without = read(text, {{"rear.json", rear}}, {"rear=false"});
  ASSERT_EQ(without.chains.size(), 1U) << "the other begins in the namespace that is left out";
  ASSERT_EQ(without.transitions.size(), 1U);
  EXPECT_EQ(without.transitions[0].when.names, Names{"brake"});

  const Configuration unwatched = read(file(kBrake, R"({"when": {"late": "brake"}, "to": "safe_stop"})",
                                            include(R"("namespace": "rear", "variables": {"watched": false})")),
                                       {{"rear.json", rear}});
  EXPECT_EQ(unwatched.chains.size(), 1U);
  EXPECT_EQ(unwatched.transitions.size(), 1U);

  std::vector<Problem> problems;
  (void)parse_configuration(file(kBrake, "", include(R"("variables": {})")), "street.json", problems,
                            {.read = [&](const std::string&, std::size_t) { return rear; }});
  ASSERT_EQ(problems.size(), 1U) << shown(problems);
  EXPECT_NE(problems[0].cause.find("chain 'brake' already exists (line 3)"), std::string::npos) << shown(problems);
  EXPECT_TRUE(
      read(file("", when(R"("late": "brake")"), include(R"("when": "rear")")), {{"rear.json", rear}}, {"rear=false"})
          .transitions.empty())
      << "a chain of a file that is left out";
}

// The ways of chains.

Declarations declared(const std::vector<std::pair<std::string, std::string>>& endpoints) {
  Declarations d;
  for (const auto& [component, topic] : endpoints)  // "<" reads, ">" publishes
    d.endpoints.push_back({.component = component,
                           .topic_in_code = topic.substr(1),
                           .type_name = "T",
                           .type_hash = 1,
                           .output = topic[0] == '>'});
  return d;
}

const std::vector<std::pair<std::string, std::string>> kWay = {{"camera", ">/image"},
                                                               {"detector", "</image"},
                                                               {"detector", ">/seen"},
                                                               {"decision", "</seen"},
                                                               {"decision", ">/command"}};

std::vector<Problem> check(const Configuration& c, const Declarations& d) {
  std::vector<Problem> all =
      config::check(c, d, {.cpus = 8, .memory_bytes = std::uint64_t{16} << 30U, .realtime = true});
  std::erase_if(
      all, [](const Problem& p) { return !p.pointer.starts_with("/chains") && !p.pointer.starts_with("/states"); });
  return all;
}

TEST(ChainWays, TheShortestIsShown) {
  const Configuration c = read(file(kBrake));
  EXPECT_TRUE(check(c, declared(kWay)).empty());
  ChainWay way = way_of(c, declared(kWay), c.chains[0]);
  EXPECT_EQ(text(way, c.chains[0]), "/image → detector → /seen → decision → /command, 60.5 ms");
  EXPECT_EQ(way.components, 2U);

  auto more = kWay;  // a detour, a circle before it, and a way back from the end
  for (const auto& one : {std::pair{"camera", "</seen"},
                          {"camera", ">/track"},
                          {"decision", "</track"},
                          {"detector", "</track"},
                          {"camera", "</command"}})
    more.emplace_back(one);
  way = way_of(c, declared(more), c.chains[0]);
  EXPECT_EQ(text(way, c.chains[0]),
            "/image → detector → /seen → decision → /command (3 components on all ways), 60.5 ms");

  auto outside = kWay;
  outside.erase(outside.begin());
  EXPECT_TRUE(check(c, declared(outside)).empty()) << "/image may come from outside";
}

TEST(ChainWays, AGapIsAnErrorThatNamesIt) {
  const Configuration c = read(file(kBrake));
  const auto gap = [&](std::size_t at, const char* topic, const std::string& cause, const std::string& remedy) {
    auto endpoints = kWay;
    endpoints[at].second = topic;
    const std::vector<Problem> problems = check(c, declared(endpoints));
    ASSERT_EQ(problems.size(), 1U) << shown(problems);
    EXPECT_EQ(problems[0].severity, Severity::Error);
    EXPECT_EQ(problems[0].pointer, "/chains/brake");
    EXPECT_EQ(problems[0].cause, "chain 'brake': no way leads from '/image' to '/command': " + cause);
    EXPECT_EQ(problems[0].remedy, remedy);
  };
  gap(3, "</sene",
      "it ends at '/seen', which no component reads; '/command' begins at '/sene', which no component publishes",
      "are '/seen' and '/sene' the same topic? Rename one");
  gap(3, "</objects",
      "it ends at '/seen', which no component reads; '/command' begins at '/objects', which no component publishes",
      "rename a topic, or add the component that reads '/seen' and publishes '/objects'");
  gap(1, "</imaeg",
      "it ends at '/image', which no component reads; '/command' begins at '/imaeg', which no component publishes",
      "are '/image' and '/imaeg' the same topic? Rename one");
  gap(4, ">/comand", "it ends at '/comand', which no component reads; no component publishes '/command'",
      "are '/comand' and '/command' the same topic? Rename one");
  gap(4, "</other", "it ends at component 'decision', which has no output; no component publishes '/command'",
      "rename a topic, or change 'from' or 'to' of the chain");
  gap(3, ">/other",
      "it ends at '/seen', which no component reads; '/command' begins at component 'decision', which rests on no "
      "input",
      "rename a topic, or change 'from' or 'to' of the chain");
}

TEST(ChainWays, AChainThatIsWrongInTheTextIsReportedOnce) {
  for (const char* const wrong :
       {R"("a": {"from": "/x"})", R"("a": {"from": "x", "to": "/y"})", R"("a": {"from": "/x", "to": "/x"})"}) {
    std::vector<Problem> problems;
    const Configuration c = parse_configuration(file(wrong), "street.json", problems);
    EXPECT_EQ(problems.size(), 1U) << shown(problems);
    EXPECT_TRUE(check(c, declared(kWay)).empty()) << wrong;
  }
}

TEST(ChainWays, AnInputWithoutRestsOnIsNotAWay) {
  const Configuration c = read(file(kBrake));
  Declarations d = declared(kWay);
  d.endpoints[3].rests_on = false;
  const std::vector<Problem> problems = check(c, d);
  ASSERT_EQ(problems.size(), 1U) << shown(problems);
  EXPECT_NE(
      problems[0].cause.find("it ends at '/seen', because the input of component 'decision' has rests_on = false"),
      std::string::npos)
      << shown(problems);
}

TEST(ChainWays, ComponentsThatCouldNotBeAskedMayBeOnTheWay) {
  const Configuration c = read(file(kBrake));
  Declarations d = declared({kWay.begin(), kWay.end() - 2});
  d.unknown = {"decision"};
  EXPECT_TRUE(check(c, d).empty());
  EXPECT_TRUE(way_of(c, d, c.chains[0]).hops.empty());
}

TEST(ChainWays, AGraphWithVeryManyWaysIsSearchedInNoTime) {
  // Each of 40 layers doubles the number of ways: 2^40.
  std::string components = R"("first": {"library": "l", "class": "C"})";
  std::vector<std::pair<std::string, std::string>> endpoints;
  for (int layer = 0; layer < 40; ++layer)
    for (const char* const side : {"a", "b"}) {
      const std::string name = side + std::to_string(layer);
      components += ",\"" + name + R"(": {"library": "l", "class": "C"})";
      endpoints.emplace_back(name, "</t" + std::to_string(layer));
      endpoints.emplace_back(name, ">/t" + std::to_string(layer + 1));
    }
  const Configuration c = read(
      R"({"chains": {"x": {"from": "/t0", "to": "/t40"}}, "processes": {"p": {"components": {)" + components + "}}}}");
  const ChainWay way = way_of(c, declared(endpoints), c.chains[0]);
  EXPECT_EQ(way.hops.size(), 81U);
  EXPECT_EQ(way.components, 80U);
}

TEST(ChainWays, TheWayBackOfLateIsInTime) {
  const std::string there = R"({"when": {"late": "brake"}, "to": "safe_stop"},)";
  const auto problems = [&](const std::string& back) {
    return check(read(file(kBrake, there + R"({"from": "safe_stop", "when": {)" + back + R"(}, "to": "running"})")),
                 declared(kWay));
  };
  EXPECT_TRUE(problems(R"("in_time": "brake", "for_ms": 1000)").empty());
  const std::vector<Problem> other = problems(R"("up": "p")");
  ASSERT_EQ(other.size(), 1U) << shown(other);
  EXPECT_EQ(other[0].severity, Severity::Warning);
  EXPECT_NE(other[0].cause.find("does not ask whether chain 'brake', which was late (line 5), is in time"),
            std::string::npos)
      << shown(other);
  EXPECT_NE(other[0].remedy.find(R"("in_time": "brake")"), std::string::npos);
  const std::vector<Problem> same = problems(R"("late": "brake", "times": 2, "within_ms": 5)");
  ASSERT_EQ(same.size(), 1U) << shown(same);
  EXPECT_NE(same[0].remedy.find("'in_time' for 'late'"), std::string::npos);
}

}  // namespace
}  // namespace cardan::config::chains_test
