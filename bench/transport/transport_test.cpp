// SPDX-License-Identifier: Apache-2.0
// The bench as a user starts it: tiny runs, whose form is checked and whose figures are not.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "bench/transport/bench_case.hpp"

namespace cardan::bench {
namespace {

void expect_row(const Json& row, std::uint64_t sent) {
  EXPECT_EQ(row["sent"], sent) << row.dump(1);
  EXPECT_EQ(row["runs"], 1);
  for (const char* what : {"transport_us", "end_to_end_us"}) {
    const Json& t = row[what];
    EXPECT_GT(t["min"], 0) << what;
    EXPECT_LE(t["min"], t["p50"]) << what;
    EXPECT_LE(t["p50"], t["p95"]) << what;
    EXPECT_LE(t["p95"], t["p99"]) << what;
    EXPECT_LE(t["p99"], t["max"]) << what;
    EXPECT_TRUE(t["ci95"].is_null()) << "one run has no confidence";
  }
  EXPECT_GT(row["end_to_end_us"]["p50"], row["transport_us"]["p50"]);
  EXPECT_GT(row["cpu_us_per_message"]["publisher"], 0);
  EXPECT_GT(row["cpu_us_per_message"]["reader"], 0);
}

TEST_F(TransportBench, MeasuresRawAndASocket) {
  const Ended ended = bench({"--peers", "raw,uds", "--sizes", "4K", "--waits", "block", "--frames", "50", "--runs", "1",
                             "--json", json_path()});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("about"), std::string::npos) << "says how long it takes";
  EXPECT_NE(ended.out.find("1p1s"), std::string::npos);
  const Json result = json();
  ASSERT_EQ(result["rows"].size(), 2U);
  EXPECT_TRUE(result["host"]["kernel"].is_string());
  for (const Json& row : result["rows"]) {
    expect_row(row, 40);
    EXPECT_EQ(row["bytes"], 4096);
    EXPECT_EQ(row["rate_hz"], 100);
    EXPECT_TRUE(row["ratio_to_raw"]["transport_p50"].is_number());
  }
  EXPECT_EQ(result["rows"][1]["lost"], 0) << "a blocking stream socket loses nothing";
  EXPECT_EQ(result["rows"][1]["torn"], 0);
  const Json& all = result["measurements"];  // the form that compare and report read
  ASSERT_EQ(all.size(), 2U * 6U + 1U);
  EXPECT_EQ(all[0]["quantity"], "transport");
  EXPECT_EQ(all[0]["due"], 40U);
  EXPECT_EQ(all[0]["runs"][0]["samples"].size() + all[0].value("lost", 0U), 40U);
  EXPECT_EQ(all[0]["command"],
            "cardan bench transport --peers raw --waits block --scenarios 1p1s --sizes 4096 --rate 100 --frames 50 "
            "--runs 1");
  EXPECT_EQ(all.back()["quantity"], "ping_pong_round_trip");
}

TEST_F(TransportBench, MeasuresManyReadersAndManyPublishers) {
  const Ended ended = bench({"--peers", "raw,sim,uds,tcp", "--scenarios", "1p5s,5p1s", "--sizes", "64K", "--waits",
                             "block", "--frames", "20", "--runs", "1", "--json", json_path()});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json result = json();
  ASSERT_EQ(result["rows"].size(), 10U);  // raw, sim polling and blocking, uds, tcp; twice
  for (const Json& row : result["rows"]) {
    const bool many_publishers = row["scenario"] == "5p1s";
    expect_row(row, many_publishers ? 50 : 10);
    EXPECT_EQ(row.contains("last_us"), !many_publishers);
    if (row["peer"] == "uds" || row["peer"] == "tcp") {
      EXPECT_EQ(row["lost"], 0) << row.dump(1);
      EXPECT_EQ(row["torn"], 0) << row.dump(1);
    }
  }
}

TEST_F(TransportBench, MeasuresCardanInEveryWayOfWaiting) {
  const Ended ended = bench({"--peers", "cardan", "--waits", "block,spin,prewake,soon,anticipate", "--sizes", "128,1M",
                             "--frames", "50", "--runs", "1", "--json", json_path()});
  const Json result = json();
  ASSERT_EQ(result["rows"].size(), 10U) << ended.err;
  std::uint64_t lost = 0;
  for (const Json& row : result["rows"]) {
    SCOPED_TRACE(row["wait"].get<std::string>());
    expect_row(row, 40);
    EXPECT_EQ(row["torn"], 0);
    EXPECT_EQ(row["refused"], 0);
    EXPECT_FALSE(row.contains("ratio_to_raw")) << "raw was not measured";
    lost += row["lost"].get<std::uint64_t>();
  }
  // On a busy computer a reader of a depth-1 topic may come too late for a frame; the code has to say so.
  EXPECT_EQ(ended.code, lost == 0 ? 0 : 3) << ended.err;
}

TEST_F(TransportBench, MeasuresCardanWithManyOnEitherSide) {
  const Ended ended = bench({"--peers", "cardan", "--scenarios", "1p10s,5p1s", "--waits", "block,prewake", "--sizes",
                             "64K", "--frames", "20", "--runs", "1", "--json", json_path()});
  const Json result = json();
  ASSERT_EQ(result["rows"].size(), 4U) << ended.err;
  for (const Json& row : result["rows"]) {
    EXPECT_EQ(row["sent"], row["scenario"] == "5p1s" ? 50 : 10);
    EXPECT_EQ(row["torn"], 0);
    EXPECT_EQ(row.contains("last_us"), row["scenario"] == "1p10s");
  }
  EXPECT_TRUE(ended.code == 0 || ended.code == 3) << ended.err;
}

TEST_F(TransportBench, MeasuresLinksAtTheSameTime) {
  const Ended ended = bench({"--peers", "raw,uds,cardan", "--scenarios", "1p1s,3x1p1s,2x1p2s", "--waits", "block",
                             "--sizes", "64K", "--frames", "20", "--runs", "1", "--json", json_path()});
  ASSERT_TRUE(ended.code == 0 || ended.code == 3) << ended.err;  // `cardan` may lose a frame of 1p1s
  EXPECT_NE(ended.out.find("2x1p2s · 2 links of 1 publisher, 2 readers"), std::string::npos) << ended.out;
  const Json result = json();
  ASSERT_EQ(result["rows"].size(), 9U);
  for (const Json& row : result["rows"]) {
    const std::string scenario = row["scenario"];
    const int links = scenario == "1p1s" ? 1 : scenario == "3x1p1s" ? 3 : 2;
    expect_row(row, std::uint64_t{10} * static_cast<std::uint64_t>(links));
    EXPECT_EQ(row.contains("last_us"), scenario == "2x1p2s");
    if (row["peer"] == "uds") {
      EXPECT_EQ(row["lost"], 0) << row.dump(1);
    }
    EXPECT_GT(row["achieved_rate_hz"], 0);
  }
}

TEST_F(TransportBench, MeasuresQuestionsAndAnswers) {
  const Ended ended = bench({"--peers", "raw,sim,uds,cardan", "--scenarios", "ask", "--waits", "block,prewake",
                             "--sizes", "128,64K", "--frames", "20", "--runs", "1", "--json", json_path()});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json result = json();
  std::vector<std::string> peers;
  for (const Json& row : result["rows"]) {
    peers.push_back(row["peer"]);
    EXPECT_EQ(row["scenario"], "ask");
    EXPECT_EQ(row["wait"], "block") << "other ways of waiting have no answers here";
    expect_row(row, 10);
    EXPECT_EQ(row["lost"], 0) << row.dump(1);
  }
  EXPECT_EQ(peers, (std::vector<std::string>{"raw", "uds", "cardan", "raw", "uds", "cardan"}));
}

TEST_F(TransportBench, MeasuresSingleOperations) {
  const Ended ended = bench({"--sizes", "none", "--runs", "1", "--micro", "--json", json_path()});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(json()["rows"].empty());
  std::vector<std::string> names;
  const Json result = json();
  for (const Json& figure : result["figures"]) {
    names.push_back(figure["name"]);
    EXPECT_GT(figure["count"], 0) << names.back();
    EXPECT_GT(figure["max"], 0) << names.back();
  }
  for (const char* name : {"loan_publish_hot_1", "loan_publish_hot_50", "loan_publish_traced", "loan_publish_chains_1",
                           "loan_publish_chains_8", "loan_publish_waited_for", "attach", "topics_1_listed",
                           "topics_1000_listed", "topics_1000_subscribed", "topics_1000_memory"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

TEST_F(TransportBench, WrongOptionsAreUsageErrorsInWords) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"--peers", "ros"},
                                                                                     {"--sizes", "5"},
                                                                                     {"--sizes", "none"},
                                                                                     {"--scenarios", "1x1"},
                                                                                     {"--scenarios", "65x1p1s"},
                                                                                     {"--waits", "sleep"},
                                                                                     {"--frames", "1"},
                                                                                     {"--runs", "many"},
                                                                                     {"--nonsense"},
                                                                                     {"--full", "--quick"},
                                                                                     {"--publisher-cpu", "9999"}}) {
    const Ended ended = bench(words);
    EXPECT_EQ(ended.code, 2) << words[0];
    EXPECT_GT(ended.err.size(), 20U) << words[0];
  }
}

TEST_F(TransportBench, AnUnwritableJsonFileFailsInWords) {
  const Ended ended = bench({"--peers", "raw", "--waits", "block", "--sizes", "128", "--frames", "4", "--runs", "1",
                             "--json", folder_.string()});
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.err.find("cannot write"), std::string::npos) << ended.err;
}

TEST_F(TransportBench, AJsonFileInNoFolderIsRefusedBeforeItMeasures) {
  const Ended ended = bench({"--peers", "raw", "--waits", "block", "--sizes", "128", "--frames", "4", "--runs", "1",
                             "--json", (folder_ / "no" / "out.json").string()});
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("cannot write"), std::string::npos) << ended.err;
  EXPECT_EQ(ended.out.find("transport:"), std::string::npos) << ended.out;
}

// The processes that this one has started and that have not ended, or not been waited for.
std::vector<pid_t> children_of(pid_t parent) {
  std::ifstream in("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
  std::vector<pid_t> all;
  for (pid_t pid; in >> pid;) all.push_back(pid);
  return all;
}

TEST_F(TransportBench, CtrlCReportsWhatItHasAndLeavesNoProcess) {
  const pid_t pid = start({"--peers", "raw,uds", "--waits", "block", "--sizes", "128,4K", "--frames", "40", "--runs",
                           "1000", "--json", json_path()});
  // At least one cell is finished when its line is there.
  while (content_of(folder_ / "err").find("round 1/1000 1p1s 128 B") == std::string::npos)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  while (children_of(pid).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::kill(pid, SIGINT);
  const Ended ended = join(pid);
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_NE(ended.err.find("interrupted"), std::string::npos);
  const Json result = json();
  EXPECT_EQ(result["interrupted"], true);
  EXPECT_GE(result["rows"].size(), 2U);
}

TEST_F(TransportBench, AProcessOfALinkThatEndsEarlyEndsTheRunAndIsReported) {
  const pid_t pid = start({"--peers", "raw", "--waits", "block", "--scenarios", "3x1p1s", "--sizes", "128", "--frames",
                           "100000", "--runs", "1"});
  std::vector<pid_t> roles;
  while (roles.size() < 6) {  // of the last link the last ones
    roles = children_of(pid);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ::kill(roles.back(), SIGKILL);
  const Ended ended = join(pid);
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.err.find("link 2: reader 0: was ended by signal 9"), std::string::npos) << ended.err;
}

TEST_F(TransportBench, ItsProcessesGoWithItWhenItIsKilled) {
  const pid_t pid = start({"--peers", "raw", "--waits", "block", "--sizes", "128", "--frames", "1000", "--runs", "1"});
  std::vector<pid_t> roles;
  while (roles.size() < 2) {
    roles = children_of(pid);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ::kill(pid, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  // They belong to init or a subreaper now; gone or a zombie of it is all that matters here.
  for (const pid_t role : roles) {
    const auto ended = [&] {
      const std::string stat = content_of("/proc/" + std::to_string(role) + "/stat");
      const auto bracket = stat.rfind(')');
      return stat.empty() || bracket == std::string::npos || stat.at(bracket + 2) == 'Z' || stat.at(bracket + 2) == 'X';
    };
    while (!ended()) std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the test's own time-out bounds it
  }
  fs::remove_all(folder_ / "tmp");
}

}  // namespace
}  // namespace cardan::bench
