// SPDX-License-Identifier: Apache-2.0
// The bench as a user starts it: tiny runs, whose form is checked and whose figures are not.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bench/record/disk_folder.hpp"

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

class RecordBenchCommand : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::current_path() / ("cardan-bench-record-test-" + std::to_string(::getpid()));
    // Run directories are made in it, and a socket's name has 107 bytes at most: the build may lie deep.
    std::string name = "/tmp/cardan-XXXXXX";
    tmp_ = ::mkdtemp(name.data());
    fs::create_directories(folder_ / "disk");
    struct statfs info{};
    if (::statfs(folder_.c_str(), &info) != 0 ||
        cardan::bench::recording::memory_file_system(static_cast<std::int64_t>(info.f_type)) != nullptr)
      GTEST_SKIP() << "the tests do not run on a disk";
    if (static_cast<double>(info.f_bavail) * static_cast<double>(info.f_bsize) < 8e9)
      GTEST_SKIP() << "there are no 8 GB free for the bench's files";
  }
  void TearDown() override {
    fs::remove_all(folder_);
    fs::remove_all(tmp_);
  }

  pid_t start(std::vector<std::string> words) {
    words.insert(words.begin(), {CARDAN_BENCH_DRIVER, "bench", "record"});
    std::vector<char*> arguments;
    for (auto& w : words) arguments.push_back(w.data());
    arguments.push_back(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::setenv("TMPDIR", tmp_.c_str(), 1);
      if (std::freopen((folder_ / "out").c_str(), "w", stdout) == nullptr) ::_exit(126);
      if (std::freopen((folder_ / "err").c_str(), "w", stderr) == nullptr) ::_exit(126);
      ::execv(CARDAN_BENCH_DRIVER, arguments.data());
      ::_exit(127);
    }
    return pid;
  }
  int join(pid_t pid) {
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(fs::is_empty(tmp_)) << "the bench did not remove something";
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  int bench(std::vector<std::string> words) { return join(start(std::move(words))); }
  [[nodiscard]] std::string out() const { return content_of(folder_ / "out"); }
  [[nodiscard]] std::string err() const { return content_of(folder_ / "err"); }
  [[nodiscard]] Json json() const { return Json::parse(content_of(folder_ / "out.json")); }
  [[nodiscard]] std::string json_path() const { return (folder_ / "out.json").string(); }
  [[nodiscard]] std::string disk() const { return (folder_ / "disk").string(); }

  fs::path folder_, tmp_;
};

TEST_F(RecordBenchCommand, MeasuresRecordersInTheSameRun) {
  const int code = bench({"--folder", disk(), "--only", "phases", "--peers", "cardan,speed,rosbag2", "--seconds", "0.5",
                          "--runs", "1", "--json", json_path()});
  ASSERT_TRUE(code == 0 || code == 3) << err();  // a busy computer may lose a message
  const Json result = json();
  ASSERT_EQ(result["rows"].size(), 4U) << err();
  for (const Json& row : result["rows"]) {
    SCOPED_TRACE(row["peer"].get<std::string>() + " " + row["how"].get<std::string>());
    EXPECT_EQ(row["part"], "phases");
    EXPECT_EQ(row["cameras"], 1);
    EXPECT_GT(row["made"], 0);
    EXPECT_GT(row["recorded"], 0);
    EXPECT_LE(row["recorded"], row["made"]);
    EXPECT_EQ(row["damaged"], 0);
    EXPECT_GT(row["rate_mb_s"], 0);
    EXPECT_GE(row["cpu_s_per_gb"], 0);
    EXPECT_GT(row["time_ms"]["system_calls"], 0);
  }
  std::set<std::string> quantities;
  for (const Json& m : result["measurements"]) quantities.insert(m["quantity"].get<std::string>());
  for (const char* quantity : {"recorded share", "file's rate", "CPU per GB", "time in system calls per message"})
    EXPECT_TRUE(quantities.contains(quantity)) << quantity;
  EXPECT_TRUE(result["summary"]["path_time_vs_rosbag2"].is_number());
  EXPECT_TRUE(result["summary"]["rate_vs_fio"].is_null()) << "fio was not measured";
  EXPECT_NE(out().find("Fig. 7"), std::string::npos);
  EXPECT_FALSE(result["disk"]["file_system"].get<std::string>().empty());
  EXPECT_TRUE(fs::is_empty(folder_ / "disk")) << "recorded files are removed";
}

TEST_F(RecordBenchCommand, MeasuresWhatRunsMeanwhile) {
  const int code = bench({"--folder", disk(), "--only", "task,bystander,pipeline", "--peers", "cardan", "--quick",
                          "--seconds", "0.5", "--json", json_path()});
  ASSERT_TRUE(code == 0 || code == 3) << err();
  const Json result = json();
  std::size_t tasks = 0;
  std::size_t publishes = 0;
  std::size_t pipelines = 0;
  for (const Json& row : result["rows"]) {
    if (row.contains("tasks_per_33_ms")) ++tasks;
    if (row.contains("publish_us") && row.contains("transport_us")) ++publishes;
    if (row.contains("end_to_end_ms")) ++pipelines;
  }
  EXPECT_EQ(tasks, 4U) << "alone, unrecorded, cardan with and without its schedule";
  EXPECT_EQ(publishes, 2U) << "unrecorded, cardan";
  EXPECT_EQ(pipelines, 9U) << "three scenes, unrecorded, and recorded with and without the schedule";
  EXPECT_TRUE(result["summary"]["task_std_vs_alone"].is_number());
  EXPECT_TRUE(result["summary"]["publish_p99_vs_unrecorded"].is_number());
}

TEST_F(RecordBenchCommand, WrongWordsAreUsageErrors) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"--only", "speed"},
                                                                                     {"--peers", "ros2"},
                                                                                     {"--folder", "/nowhere"},
                                                                                     {"--seconds", "0.001"},
                                                                                     {"--schedule", "never"},
                                                                                     {"--nonsense"}}) {
    EXPECT_EQ(bench(words), 2) << words[0];
    EXPECT_GT(err().size(), 20U) << words[0];
  }
}

TEST_F(RecordBenchCommand, ATmpfsIsRefused) {
  struct statfs info{};
  if (::statfs("/dev/shm", &info) != 0 ||
      cardan::bench::recording::memory_file_system(static_cast<std::int64_t>(info.f_type)) == nullptr)
    GTEST_SKIP() << "/dev/shm is not a tmpfs here";
  EXPECT_EQ(bench({"--folder", "/dev/shm"}), 2);
  EXPECT_NE(err().find("not a disk"), std::string::npos) << err();
}

TEST_F(RecordBenchCommand, CtrlCReportsWhatItHasAndLeavesNothing) {
  const pid_t pid = start({"--folder", disk(), "--only", "phases", "--peers", "rosbag2", "--seconds", "0.5", "--runs",
                           "100", "--json", json_path()});
  while (err().find("round 1:") == std::string::npos) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ::kill(pid, SIGINT);
  EXPECT_EQ(join(pid), 1) << err();
  EXPECT_EQ(json()["interrupted"], true);
  EXPECT_GE(json()["rows"].size(), 1U);
  EXPECT_TRUE(fs::is_empty(folder_ / "disk"));
}

}  // namespace
