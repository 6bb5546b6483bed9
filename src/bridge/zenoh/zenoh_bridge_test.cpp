// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/zenoh/zenoh_bridge.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cardan/error.hpp"
#include "src/bridge/zenoh/rules_json.hpp"

namespace cardan::bridge::zenoh {
namespace {

using namespace std::chrono_literals;

/// Scripts in place of the program.
class ZenohChild : public testing::Test {
 protected:
  ZenohChild() {
    std::string pattern = testing::TempDir() + "cardan-zenoh-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~ZenohChild() override { std::filesystem::remove_all(folder_); }

  std::string script(const std::string& text) {
    const std::string path = (folder_ / "program").string();
    std::ofstream(path) << "#!/bin/sh\n" << text;
    ::chmod(path.c_str(), 0700);
    return path;
  }

  static std::string report(int carried) {
    return R"({"bridge": "Zenoh, 1", "topics": [{"topic": "/a", "beyond": "/b", "type": "x/msg/Y", "direction": "in",
               "receivers": 2, "carried": )" +
           std::to_string(carried) +
           R"(, "bytes": 4, "copied_bytes": 5, "thinned": 6, "lost": 7, "refused": 8, "note": "why"}],
               "peers": [{"id": "ab", "clock_offset_ns": -1500000, "round_trip_ns": 40000000}], "notes": ["n"]})";
  }
  std::string one_line(std::string text) {
    std::erase(text, '\n');
    return text;
  }

  std::filesystem::path folder_;
};

TEST(ZenohRules, ComeBackFromTheirTextAsTheyWere) {
  Rules rules;
  std::vector<config::Problem> problems;
  parse_rules(R"({
    "domain": "d", "network": "fleet", "access": "group",
    "out": [{"topics": "/camera/*", "exclude": "/camera/x", "max_hz": 2.5, "priority": "data_low", "namespace": "/v1",
             "owner": true},
            {"topics": "/stop", "reliable": false, "congestion": "block", "depth": 3, "latched": true, "rename": "/s"}],
    "in": [{"types": ["a/msg/B", "c/msg/D"], "max_mib": 2}],
    "zenoh": {"form": "cardan", "mode": "peer", "connect": "tcp/10.0.0.2:7447", "listen": ["tcp/127.0.0.1:1"],
              "config": "z.json5", "domain_id": 7, "node": "vehicle"}
  })",
              "bridge.json", rules, problems);
  for (const auto& problem : problems) ADD_FAILURE() << config::text(problem, "bridge.json");
  const std::string line = rules_json(rules);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  Rules again;
  parse_rules(line, "line", again, problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(again.out, rules.out);
  EXPECT_EQ(again.in, rules.in);
  EXPECT_EQ(again.zenoh, rules.zenoh);
  EXPECT_EQ(again.zenoh.listen.size(), 1U);
  EXPECT_EQ(again.zenoh.domain_id, 7);
  EXPECT_EQ(again.zenoh.node, "vehicle");
  EXPECT_EQ(again.domain, "d");
  EXPECT_EQ(again.network, "fleet");
  EXPECT_EQ(again.access, Access::Group);
}

TEST_F(ZenohChild, GetsTheRulesAndIsHeard) {
  Rules rules;
  rules.domain = "mine";
  const std::string seen = (folder_ / "seen").string();
  ZenohBridge bridge(rules, script("read -r rules; printf '%s' \"$rules\" > " + seen + "\necho '" +
                                   one_line(report(1)) + "'\ncat > /dev/null\necho '" + one_line(report(3)) + "'\n"));
  for (int i = 0; i < 600 && bridge.topics().empty(); ++i) bridge.turn(100ms);
  ASSERT_EQ(bridge.topics().size(), 1U);
  const TopicReport topic = bridge.topics().front();
  EXPECT_EQ(topic.topic, "/a");
  EXPECT_EQ(topic.beyond, "/b");
  EXPECT_TRUE(topic.in);
  EXPECT_EQ(topic.receivers, 2U);
  EXPECT_EQ(topic.counts.carried, 1U);
  EXPECT_EQ(topic.counts.copied, 5U);
  EXPECT_EQ(topic.counts.lost, 7U);
  EXPECT_EQ(topic.counts.refused, 8U);
  EXPECT_EQ(topic.note, "why");
  EXPECT_EQ(bridge.title(), "Zenoh, 1");
  ASSERT_EQ(bridge.notes().size(), 2U);
  EXPECT_EQ(bridge.notes()[0], "the clock of bridge ab is 1.500 ms behind (round trip 40.0 ms)");
  std::ifstream file(seen);
  EXPECT_EQ(nlohmann::json::parse(file)["domain"], "mine");
  bridge.finish();
  EXPECT_EQ(bridge.topics().front().counts.carried, 3U) << "its last report comes after the end of its input";
}

TEST_F(ZenohChild, ItsEndIsAnError) {
  ZenohBridge bridge(Rules{}, script("exit 7\n"));
  try {
    for (int i = 0; i < 600; ++i) bridge.turn(100ms);
    FAIL() << "nobody noticed";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("code 7"), std::string::npos) << e.what();
  }
}

TEST_F(ZenohChild, AMissingOneIsReported) { EXPECT_THROW(ZenohBridge(Rules{}, (folder_ / "nothing").string()), Error); }

TEST_F(ZenohChild, AnUnreadableReportIsANote) {
  ZenohBridge bridge(Rules{}, script("echo '{\"topics\": [{}]}'\ncat > /dev/null\n"));
  for (int i = 0; i < 600 && bridge.notes().empty(); ++i) bridge.turn(100ms);
  ASSERT_EQ(bridge.notes().size(), 1U);
  EXPECT_NE(bridge.notes()[0].find("another version"), std::string::npos);
}

TEST_F(ZenohChild, ThatDoesNotEndIsKilled) {
  Child child(script("trap '' TERM\necho ready\nwhile :; do sleep 0.1; done\n"), "");
  while (child.lines(100ms).empty()) {
  }
  (void)child.end();
  EXPECT_EQ(child.code(), 128 + SIGKILL);
}

TEST_F(ZenohChild, ThatPrintsALineWithoutEndIsGivenUp) {
  Child child(script("yes 'x' | tr -d '\\n'\n"), "");
  EXPECT_THROW(
      {
        while (!child.ended()) (void)child.lines(100ms);
      },
      Error);
}

}  // namespace
}  // namespace cardan::bridge::zenoh
