// SPDX-License-Identifier: Apache-2.0
// eCAL as a peer (peers/others/ecal.cpp), where make bench-peers has built it.
#include <fcntl.h>
#include <signal.h>

#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bench/transport/bench_case.hpp"
#include "cardan/detail/fd.hpp"

namespace cardan::bench {
namespace {

class EcalPeers : public TransportBench {
 protected:
  void SetUp() override {
    TransportBench::SetUp();
    if (!fs::exists(fs::path(driver_).parent_path().parent_path() / "lib/cardan-bench/ecal.so"))
      GTEST_SKIP() << "eCAL is not there: make bench-peers installs it";
  }

  /// The memory files that roles of this test's bench read now. Their events are named after file and process.
  [[nodiscard]] std::set<std::string> memory_files() const {
    std::set<std::string> names;
    std::error_code ignored;
    for (const auto& run : fs::directory_iterator(folder_ / "tmp", ignored))
      for (const auto& role : fs::directory_iterator(run, ignored)) {
        const std::string folder = role.path().filename().string();  // ecal-<process>
        if (!folder.starts_with("ecal-")) continue;
        for (const std::string& event : in_shared_memory()) {
          const auto end = event.find("_" + folder.substr(5) + "_evt");
          if (end != std::string::npos) names.insert(event.substr(0, end));
        }
      }
    return names;
  }
  /// Waits until there is one; the test's own time-out bounds it. `bench` has its own /dev/shm where this test's
  /// user may mount: it stays open here, so that what is left in it can be seen after the end.
  [[nodiscard]] std::set<std::string> first_memory_files(pid_t bench) {
    for (;;) {
      shared_memory_ =
          Fd{::open(("/proc/" + std::to_string(bench) + "/root/dev/shm").c_str(), O_DIRECTORY | O_CLOEXEC)};
      if (auto names = memory_files(); !names.empty()) return names;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  [[nodiscard]] std::vector<std::string> in_shared_memory() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator("/proc/self/fd/" + std::to_string(shared_memory_.get())))
      names.push_back(entry.path().filename().string());
    return names;
  }
  /// How many entries in shared memory are of these files: they, their events and their locks.
  [[nodiscard]] std::size_t count_of(const std::set<std::string>& files) const {
    std::size_t count = 0;
    for (const std::string& name : in_shared_memory())
      for (const std::string& file : files)
        if ((name + "_").starts_with(file + "_")) ++count;
    return count;
  }

  Fd shared_memory_;
};

TEST_F(EcalPeers, DeliverTheirFramesAndLeaveNothing) {
  const pid_t pid = start({"--peers", "ecal,ecal-zero-copy", "--scenarios", "2p2s", "--sizes", "128,1M", "--frames",
                           "60", "--runs", "1", "--json", json_path()});
  const std::set<std::string> names = first_memory_files(pid);
  const Ended ended = join(pid);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(count_of(names), 0U);
  EXPECT_EQ(ended.out.find("ecal.yaml"), std::string::npos) << "standard output is the table's";

  const Json result = json();
  EXPECT_EQ(result["host"]["peers"].get<std::string>().find("ecal 6.1."), 0U) << result["host"];
  ASSERT_EQ(result["rows"].size(), 4U);
  for (const Json& row : result["rows"]) {
    SCOPED_TRACE(row.dump(1));
    EXPECT_EQ(row["sent"], 100) << "two publishers, 60 frames each, 10 discarded";
    EXPECT_EQ(row["torn"], 0);
    EXPECT_EQ(row["refused"], 0);
    // On a loaded computer readers come too late for some; there is one memory file.
    EXPECT_LT(row["lost"], 200) << "two readers";
    EXPECT_GT(row["transport_us"]["min"], 0);
    EXPECT_GT(row["end_to_end_us"]["p50"], row["transport_us"]["p50"]);
  }
}

TEST_F(EcalPeers, LeaveNoSharedMemoryAtCtrlC) {
  const pid_t pid = start({"--peers", "ecal", "--sizes", "4K", "--frames", "100000", "--runs", "1"});
  const std::set<std::string> names = first_memory_files(pid);
  EXPECT_GT(count_of(names), 0U) << "they are of a running publisher";
  ::kill(pid, SIGINT);
  const Ended ended = join(pid);
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_EQ(count_of(names), 0U);
}

}  // namespace
}  // namespace cardan::bench
