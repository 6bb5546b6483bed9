// SPDX-License-Identifier: Apache-2.0
#include "bench/results/statements.hpp"

#include <gtest/gtest.h>

#include <map>

#include "bench/results/synthetic.hpp"

namespace cardan::bench {
namespace {

class Statements : public ::testing::Test {
 protected:
  void add(const char* part, const char* peer, const char* setup, const char* cell, const char* quantity, double bytes,
           std::vector<double> samples) {
    Measurement m{.part = part,
                  .peer = peer,
                  .setup = setup,
                  .cell = cell,
                  .quantity = quantity,
                  .unit = "us",
                  .bytes = bytes,
                  .rate_hz = 30};
    m.runs.push_back(make_run(std::move(samples)));
    m.due = 100;
    m.lost = 0;
    all_.push_back(std::move(m));
  }
  void frames(const char* peer, const char* setup, double bytes, double p50) {
    add("transport", peer, setup, "1p1s", "transport", bytes, {p50, p50, p50});
  }
  Finding judged(const std::string& start) {
    std::vector<const Measurement*> pointers;
    for (const Measurement& m : all_) pointers.push_back(&m);
    for (const Statement& s : all_statements())
      if (s.text.rfind(start, 0) == 0) return s.judge(Evidence(pointers));
    ADD_FAILURE() << "no statement " << start;
    return {};
  }
  void expect(const std::string& start, Judgement wanted) {
    const Finding f = judged(start);
    EXPECT_EQ(f.judgement, wanted) << start << ": " << f.figures;
    EXPECT_FALSE(f.figures.empty()) << start;
  }

  std::vector<Measurement> all_;
};

TEST_F(Statements, NothingIsSaidOfWhatWasNotMeasured) {
  for (const Statement& s : all_statements()) {
    const Finding f = s.judge(Evidence({}));
    EXPECT_EQ(f.judgement, Judgement::NotMeasured) << s.text;
    EXPECT_FALSE(f.figures.empty()) << s.text;
  }
  std::map<std::string, int> papers;
  for (const Statement& s : all_statements()) ++papers[s.paper.substr(0, s.paper.find(','))];
  EXPECT_EQ(papers.size(), 5U);
  EXPECT_EQ(papers["Oops!"], 8);
}

TEST_F(Statements, CopiesCostMostWhereTheyDo) {
  frames("cardan", "block", 4e6, 100);
  frames("uds", "block", 4e6, 1000);
  frames("tcp", "block", 4e6, 900);
  expect("Finding 1", Judgement::Holds);
  frames("zeromq", "block", 4e6, 150);
  expect("Finding 1", Judgement::DoesNotHold);
}

TEST_F(Statements, SchedulingIsAQuestionOfTheWakeUp) {
  frames("raw", "spin", 128, 1);
  frames("raw", "block", 128, 20);
  frames("cardan", "block", 128, 100);
  expect("Finding 5", Judgement::Holds);
  frames("raw", "spin", 4096, 1);
  frames("raw", "block", 4096, 60);
  frames("cardan", "block", 4096, 70);
  expect("Finding 5", Judgement::DoesNotHold);
}

TEST_F(Statements, ThreadsAtOneLoadMustNotMatter) {
  frames("raw", "spin", 128, 1);
  frames("raw", "block", 128, 20);
  frames("cardan", "block", 128, 100);
  const auto beside = [&](const char* cell, double p50) {
    add("transport", "cardan", "block", cell, "transport", 4096, {p50, p50});
  };
  beside("1p1s load=1x50", 100);
  beside("1p1s load=8x50", 110);
  beside("1p1s load=8x90", 900);      // another load: not compared
  beside("1p1s load=1x90+fifo", 10);  // another policy: neither
  expect("Finding 5", Judgement::Holds);
  beside("1p1s load=1x90", 90);
  expect("Finding 5", Judgement::DoesNotHold);
}

TEST_F(Statements, ReliabilityIsJudgedByPeersThatHaveBoth) {
  frames("cyclone-reliable", "block", 4096, 100);
  expect("Finding 2", Judgement::NotMeasured);
  frames("cyclone", "block", 4096, 90);
  expect("Finding 2", Judgement::Holds);
  frames("cardan", "block", 4096, 100);
  frames("cardan-reliable", "block", 4096, 130);
  all_.back().rate_hz = 100;  // another cell: not compared
  expect("Finding 2", Judgement::Holds);
  all_.back().rate_hz = 30;
  expect("Finding 2", Judgement::DoesNotHold);
}

TEST_F(Statements, AWayForPeriodicStreamsGains) {
  frames("cardan", "block", 4096, 100);
  frames("cardan", "prewake", 4096, 95);
  expect("Finding 3", Judgement::DoesNotHold);
  frames("cardan", "anticipate", 4096, 10);
  expect("Finding 3", Judgement::Holds);
}

TEST_F(Statements, WaysToFuseDifferInLatency) {
  add("runtime", "cardan", "primary slowest", "fusion", "transport", 4e6, {1000, 1000});
  add("runtime", "cardan", "primary fastest", "fusion", "transport", 4e6, {1100, 1100});
  add("runtime", "cardan", "primary fastest", "fusion", "transport of 10 Hz", 4e6,
      {9000});  // of one channel: not judged
  expect("Finding 4", Judgement::DoesNotHold);
  add("runtime", "cardan", "exact", "fusion", "transport", 4e6, {1300, 1300});
  expect("Finding 4", Judgement::Holds);
}

TEST_F(Statements, RatesMustMatch) {
  frames("cardan", "block", 4096, 100);
  frames("cardan", "block", 4096, 101);
  all_.back().rate_hz = 100;
  expect("Finding 7", Judgement::DoesNotHold);
  all_.back().lost = 10;
  expect("Finding 7", Judgement::Holds);
}

TEST_F(Statements, OrdersOfMagnitudeBelowLoopback) {
  frames("tcp", "block", 4e6, 2000);
  frames("cardan", "block", 4e6, 100);
  expect("Up to two orders", Judgement::DoesNotHold);
  frames("cardan", "anticipate", 4e6, 5);
  expect("Up to two orders", Judgement::Holds);
}

TEST_F(Statements, SharedMemoryIsBestOnlyWithoutLoss) {
  frames("cardan", "block", 4e6, 100);
  frames("uds", "block", 4e6, 1000);
  expect("Shared memory is the optimal", Judgement::Holds);
  all_.front().lost = 1;
  expect("Shared memory is the optimal", Judgement::DoesNotHold);
}

TEST_F(Statements, SpeedIsComparedWithRosbag2) {
  const auto phases = [&](const char* peer, const char* setup, double ms) {
    add("record", peer, setup, "phases", "time in system calls per message", 0, {ms});
  };
  phases("rosbag2", "no transport", 10);
  phases("speed", "copies", 1);
  expect("Latency of a single write", Judgement::Holds);
  all_.pop_back();
  phases("speed", "copies", 5);
  expect("Latency of a single write", Judgement::DoesNotHold);
  for (int cameras = 1; cameras <= 6; ++cameras) {
    const std::string cell = "cameras " + std::to_string(cameras) + " absolute";
    add("record", "rosbag2", "no transport", cell.c_str(), "recorded share", 0, {cameras <= 4 ? 100.0 : 50.0});
    add("record", "speed", "copies", cell.c_str(), "recorded share", 0, {100.0});
  }
  expect("1.5 times as many cameras", Judgement::Holds);
  all_.back().runs[0].samples = {90};
  expect("1.5 times as many cameras", Judgement::DoesNotHold);
}

TEST_F(Statements, DeviationsAreOfARun) {
  add("record", "rosbag2", "no transport", "task", "tasks in 33 ms", 0, {1, 3, 1, 3});
  add("record", "cardan", "cycle", "task", "tasks in 33 ms", 0, {2, 2.2, 2, 2.2});
  expect("The deviation of a task", Judgement::Holds);
}

}  // namespace
}  // namespace cardan::bench
