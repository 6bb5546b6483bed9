// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/conditions.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>

#include "bench/results/host.hpp"
#include "bench/transport/bench_case.hpp"
#include "bench/transport/clock.hpp"
#include "bench/transport/options.hpp"
#include "bench/transport/run.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

TEST(Conditions, NamesAreWhatIsParsed) {
  for (const char* name :
       {"none", "work=20", "work=0.5", "load=4x50", "cpu=40", "fifo", "work=20+load=1x90+cpu=25", "load=1x90+fifo"})
    EXPECT_EQ(name_of(parse_conditions(name)), name);
  EXPECT_EQ(parse_conditions("none"), Conditions{});
  EXPECT_EQ(parse_conditions("fifo+work=1").work_ms, 1);
}

TEST(Conditions, OthersAreRefusedInWords) {
  for (const char* bad : {"",
                          "+",
                          "work",
                          "work=",
                          "work=0",
                          "work=-1",
                          "work=nan",
                          "work=1e9",
                          "work=20ms",
                          "load=4",
                          "load=x50",
                          "load=0x50",
                          "load=1.5x50",
                          "load=4x0",
                          "load=4x101",
                          "load=1000000000x50",
                          "cpu=1",
                          "cpu=inf",
                          "fifo=1",
                          "rt",
                          "none+fifo",
                          "cpu=50+fifo",
                          "load=4x50x2"}) {
    try {
      parse_conditions(bad);
      ADD_FAILURE() << bad << " was accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::InvalidArgument) << bad;
      const bool pair = std::string_view(bad) == "cpu=50+fifo";
      EXPECT_NE(e.remedy().find(pair ? "two conditions" : "work=MS"), std::string::npos) << bad;
    }
  }
}

TEST(Conditions, AreAFurtherDimensionOfTheGrid) {
  const auto o = parse_options({.sizes = "128,4K", .rates = "20,40", .conditions = "none,work=20,work=20"}, {0, 1});
  ASSERT_EQ(o.cells.size(), 8U);
  EXPECT_EQ(name_of(o.cells[0]), "1p1s");
  EXPECT_EQ(name_of(o.cells[2]), "1p1s work=20");
  EXPECT_EQ(o.cells[3].rate_hz, 40);
  EXPECT_GE(expected_seconds(o.cells[3]), 0.02 * o.cells[3].frames) << "the work takes longer than the period";
}

TEST(Conditions, ALoadUsesItsShareAndGoes) {
  double used = 0;
  for (std::int64_t time = 500'000'000; used <= 0.02 && time < 60'000'000'000;
       time *= 2) {  // longer on a busy computer
    const double before = seconds_of_children();
    double wall = 0;
    {
      const int cpu = allowed_cpus().front();
      const std::int64_t start = now_ns();
      BackgroundLoad load(parse_conditions("load=3x40"), {cpu, cpu});  // two roles on a CPU: one load there
      sleep_until(start + time);
      EXPECT_EQ(load.failure(), "");
      wall = static_cast<double>(now_ns() - start) / 1e9;
    }
    used = seconds_of_children() - before;
    EXPECT_LT(used, 0.55 * wall) << "40 % are its share";
  }
  EXPECT_GT(used, 0.02) << "it computed";
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no process is left";
}

TEST(Conditions, ALoadThatCannotBeHadIsNoticed) {
  BackgroundLoad load(parse_conditions("load=1x40"), {CPU_SETSIZE - 1});  // no computer of the tests has this CPU
  const std::int64_t give_up = now_ns() + 10'000'000'000;
  while (load.failure().empty() && now_ns() < give_up) sleep_until(now_ns() + 1'000'000);
  EXPECT_NE(load.failure(), "");
}

TEST(Conditions, WorkIsCpuTime) {
  const std::int64_t before = read_clock(CLOCK_THREAD_CPUTIME_ID);
  compute_for(5'000'000);
  EXPECT_GE(read_clock(CLOCK_THREAD_CPUTIME_ID) - before, 5'000'000);
}

class BenchUnderConditions : public TransportBench {};

// A reader that works for two and a half periods cannot get each frame: the others are reported as lost, and the exit
// code is 0. On a busy computer a reader that has time for each loses some, too.
TEST_F(BenchUnderConditions, WorkBeyondThePeriodLosesFramesOfDepthOne) {
  const Ended ended = bench({"--peers", "cardan", "--waits", "block", "--sizes", "4K", "--rate", "25,100",
                             "--conditions", "work=25", "--frames", "40", "--runs", "1", "--json", json_path()});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json rows = json()["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["conditions"], "work=25");
  EXPECT_GT(rows[1]["lost"].get<int>(), 0);
  EXPECT_EQ(rows[0]["torn"], 0);
}

TEST_F(BenchUnderConditions, ABudgetLimitsTheRolesOrIsLeftOutInWords) {
  const Ended ended = bench({"--peers", "uds", "--sizes", "128", "--rate", "50", "--conditions", "none,cpu=20+work=10",
                             "--frames", "30", "--runs", "1", "--json", json_path()});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json result = json();
  if (!result["left_out"].empty()) {
    const auto why = result["left_out"][0].get<std::string>();
    EXPECT_TRUE(why.find("control group") != std::string::npos || why.find("did not end in time") != std::string::npos)
        << why;  // the second on a busy computer
    EXPECT_EQ(result["rows"].size(), 1U);
    return;
  }
  ASSERT_EQ(result["rows"].size(), 2U);
  // 10 ms of work each 20 ms need half a core; a fifth of one is there.
  EXPECT_LE(result["rows"][1]["reader_cpu_percent"].get<double>(), 30);
  EXPECT_GT(result["rows"][1]["transport_us"]["p50"].get<double>(),
            result["rows"][0]["transport_us"]["p50"].get<double>());
  for (const char* root : {"/sys/fs/cgroup", "/sys/fs/cgroup/cpu"}) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(root, none)) {
      const std::string name = entry.path().filename().string();
      if (name.rfind("cardan-bench-", 0) != 0) continue;
      EXPECT_EQ(::kill(std::stoi(name.substr(13)), 0), 0) << name << " was not ended";  // another bench may run
    }
  }
}

// Two readers that would take half a core each get a fifth of one together, and not each.
TEST_F(BenchUnderConditions, LinksShareOneBudget) {
  const Ended ended =
      bench({"--peers", "uds", "--scenarios", "2x1p1s", "--sizes", "128", "--rate", "50", "--conditions",
             "none,cpu=20+work=10", "--frames", "30", "--runs", "1", "--json", json_path()});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json result = json();
  if (!result["left_out"].empty()) GTEST_SKIP() << result["left_out"][0];
  ASSERT_EQ(result["rows"].size(), 2U);
  EXPECT_GT(result["rows"][1]["reader_cpu_percent"].get<double>(), 2);
  EXPECT_LE(result["rows"][1]["reader_cpu_percent"].get<double>(), 15) << "the mean of both";
}

TEST_F(BenchUnderConditions, ALoadAndAPriorityAreRowsOfTheirOwn) {
  const Ended ended = bench({"--peers", "raw", "--waits", "block,spin", "--sizes", "128", "--conditions",
                             "load=2x30,load=2x30+fifo", "--frames", "20", "--runs", "1", "--json", json_path()});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json result = json();
  const bool fifo = result["left_out"].empty();
  ASSERT_EQ(result["rows"].size(), fifo ? 3U : 2U) << "spin is not measured with SCHED_FIFO";
  EXPECT_EQ(result["rows"][0]["conditions"], "load=2x30");
  if (fifo) {
    EXPECT_EQ(result["rows"][2]["conditions"], "load=2x30+fifo");
  } else {
    EXPECT_NE(result["left_out"][0].get<std::string>().find("SCHED_FIFO"), std::string::npos);
  }
}

TEST_F(BenchUnderConditions, WrongWordsAreUsageErrors) {
  const Ended ended = bench({"--peers", "raw", "--conditions", "load=much"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("load=THREADSxPERCENT"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace cardan::bench
