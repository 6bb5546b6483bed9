// SPDX-License-Identifier: Apache-2.0
// `cardan bench v2x` as a user starts it: short runs, whose form is checked and whose figures are not.
#include <net/if.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "bench/transport/bench_case.hpp"

namespace cardan::bench {
namespace {

class V2xProgram : public TransportBench {
 protected:
  V2xProgram() { part_ = "v2x"; }
  [[nodiscard]] static bool has_no_network(const Ended& ended) {
    // Anything else that fails is a failure of the bench.
    return ended.out.find("no network of its own: ") != std::string::npos ||
           ended.out.find("cannot make a tap: ") != std::string::npos;
  }
};

TEST_F(V2xProgram, SocketsGoThereAndBackOverTheLink) {
  const Ended ended = bench({"--only", "udp,tcp", "--seconds", "2", "--runs", "1", "--delay-ms", "10", "--jitter-ms",
                             "0", "--loss", "0", "--json", json_path()});
  if (has_no_network(ended)) GTEST_SKIP() << ended.out;
  ASSERT_EQ(ended.code, 0) << ended.err << ended.out;
  const Json result = json();
  ASSERT_EQ(result["rows"].size(), 2U);
  for (const Json& row : result["rows"]) {
    EXPECT_EQ(row["sent"], 20);
    EXPECT_EQ(row["lost"], 0);
    EXPECT_GE(row["round_trip_ms"]["min"], 20) << "10 ms in each direction";
  }
  EXPECT_FALSE(result["link"]["how"].get<std::string>().empty());
  EXPECT_EQ(::if_nametoindex("cardan0"), 0U) << "its devices are not in our network";
  ASSERT_EQ(result["measurements"].size(), 2U);
  EXPECT_EQ(result["measurements"][0]["quantity"], "round trip");
}

TEST_F(V2xProgram, LossIsCountedWhereNothingIsSentAgain) {
  const Ended ended = bench(
      {"--only", "udp,tcp", "--seconds", "2", "--hz", "100", "--runs", "1", "--loss", "20", "--json", json_path()});
  if (has_no_network(ended)) GTEST_SKIP() << ended.out;
  ASSERT_EQ(ended.code, 0) << "UDP may lose messages: " << ended.err;
  EXPECT_GT(json()["rows"][0]["lost"], 20) << "of 200, each with two chances of 20 %";
  EXPECT_LT(json()["rows"][0]["lost"], 150);
  EXPECT_LT(json()["rows"][1]["lost"], json()["rows"][0]["lost"]) << "TCP sends again";
}

TEST_F(V2xProgram, ABridgeOfCardanCarriesThem) {
  const Ended ended = bench({"--only", "cardan-dds", "--seconds", "2", "--runs", "1", "--json", json_path()});
  if (has_no_network(ended) || ended.out.find("cardan-dds is left out") != std::string::npos) GTEST_SKIP() << ended.out;
  ASSERT_TRUE(ended.code == 0 || ended.code == 3) << ended.err << ended.out;  // 3: on a busy computer an answer is late
  ASSERT_EQ(json()["rows"].size(), 1U);
  EXPECT_EQ(json()["rows"][0]["sent"], 20);
  EXPECT_LT(json()["rows"][0]["lost"], 20);
}

TEST_F(V2xProgram, AnInterruptedRunLeavesNothing) {
  const pid_t pid = start({"--only", "udp,tcp,cardan-dds", "--seconds", "60"});
  std::this_thread::sleep_for(std::chrono::seconds(4));
  ::kill(pid, SIGINT);
  const Ended ended = join(pid);  // which checks the temporary folder
  if (has_no_network(ended)) GTEST_SKIP() << ended.out;
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_NE(ended.err.find("interrupted"), std::string::npos) << ended.err;
  // None of its processes runs any more: all have its folder in their environment.
  const std::string mark = "TMPDIR=" + (folder_ / "tmp").string();
  for (const auto& entry : fs::directory_iterator("/proc"))
    EXPECT_EQ(content_of(entry.path() / "environ").find(mark), std::string::npos) << entry.path();
}

TEST_F(V2xProgram, WithoutAPeerItEndsAtOnce) {
  if (fs::exists(fs::path(CARDAN_BENCH_DRIVER).parent_path() / "cardan-zenoh")) GTEST_SKIP() << "the peer is there";
  const Ended ended = bench({"--only", "cardan-zenoh", "--seconds", "3600"});  // longer than the limit of this test
  if (has_no_network(ended)) GTEST_SKIP() << ended.out;
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("make zenoh"), std::string::npos) << ended.out;
}

TEST_F(V2xProgram, WrongOptionsAreNamed) {
  for (const auto& words : std::vector<std::vector<std::string>>{{"--only", "pigeons"},
                                                                 {"--bytes", "8"},
                                                                 {"--loss", "100"},
                                                                 {"--delay-ms", "-2"},
                                                                 {"--delay-ms", "-1"},
                                                                 {"--bytes", "0"},
                                                                 {"--seconds", "1", "--hz", "0.5"},
                                                                 {"--seconds", "3600", "--hz", "1000"},
                                                                 {"--rate-mbit", "0"},
                                                                 {"--hz", "-1"},
                                                                 {"--runs", "1000"}}) {
    const Ended ended = bench(words);
    EXPECT_EQ(ended.code, 2) << words[0];
    EXPECT_NE(ended.err.find(words[0]), std::string::npos) << ended.err;
  }
}

}  // namespace
}  // namespace cardan::bench
