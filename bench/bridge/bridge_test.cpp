// SPDX-License-Identifier: Apache-2.0
// The bench as a user starts it: tiny runs, whose form is checked and whose figures are not.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

class BridgeBenchCommand : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = "/tmp/cardan-XXXXXX";
    tmp_ = ::mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(tmp_); }

  pid_t start(std::vector<std::string> words) {
    words.insert(words.begin(), {CARDAN_BENCH_DRIVER, "bench", "bridge"});
    std::vector<char*> arguments;
    for (auto& w : words) arguments.push_back(w.data());
    arguments.push_back(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::setenv("TMPDIR", tmp_.c_str(), 1);
      if (std::freopen((tmp_ / "out").c_str(), "w", stdout) == nullptr) ::_exit(126);
      if (std::freopen((tmp_ / "err").c_str(), "w", stderr) == nullptr) ::_exit(126);
      ::execv(CARDAN_BENCH_DRIVER, arguments.data());
      ::_exit(127);
    }
    return pid;
  }
  int end_of(pid_t pid) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  int bench(std::vector<std::string> words) { return end_of(start(std::move(words))); }
  [[nodiscard]] std::string errors() const { return content_of(tmp_ / "err"); }
  [[nodiscard]] bool has_no_network() const { return errors().find("no network of its own") != std::string::npos; }
  /// All that a run makes is below its temporary folder.
  [[nodiscard]] std::size_t folders() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(tmp_)) count += entry.is_directory() ? 1U : 0U;
    return count;
  }

  fs::path tmp_;
};

TEST_F(BridgeBenchCommand, MeasuresWhatIsHereAndLeavesNothing) {
  const fs::path json = tmp_ / "out.json";
  const int code = bench({"--only", "foxglove", "--seconds", "1", "--runs", "1", "--json", json.string()});
  if (has_no_network()) GTEST_SKIP() << errors();
  ASSERT_EQ(code, 0) << errors();
  const auto report = nlohmann::json::parse(content_of(json));
  ASSERT_EQ(report.at("rows").size(), 1U);
  const auto& row = report.at("rows").at(0);
  EXPECT_EQ(row.at("name"), "foxglove");
  EXPECT_EQ(report.at("measurements").size(), row.at("figures").size());
  std::vector<std::string> names;
  for (const auto& figure : row.at("figures")) {
    names.push_back(figure.at("name"));
    EXPECT_GT(figure.at("median"), 0) << names.back();
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"arrived", "latency p50", "own memory", "bridge", "arrived with a slow one",
                                      "latency p50 with a slow one", "own memory with a slow one"}));
  EXPECT_EQ(folders(), 0U);
}

TEST_F(BridgeBenchCommand, ComparesPublishWithoutAndWithTheBridgesThatAreHere) {
  const fs::path json = tmp_ / "out.json";
  const int code = bench({"--only", "publish-small", "--seconds", "1", "--runs", "2", "--json", json.string()});
  if (has_no_network()) GTEST_SKIP() << errors();
  ASSERT_EQ(code, 0) << errors();
  const auto report = nlohmann::json::parse(content_of(json));
  ASSERT_EQ(report.at("rows").size(), 1U);
  const auto& row = report.at("rows").at(0);
  EXPECT_NE(row.at("title").get<std::string>().find("foxglove"), std::string::npos) << row.at("title");
  for (const auto& figure : row.at("figures")) {
    const std::string name = figure.at("name");
    const bool of_all_rounds = name == "bridges" || name.ends_with("with / without");
    EXPECT_EQ(figure.at("runs").size(), of_all_rounds ? 1U : 2U) << name;
    EXPECT_GT(figure.at("median"), 0) << name;
    EXPECT_EQ(figure.contains("wanted"), name == "p99 with / without") << name;
  }
  EXPECT_EQ(row.at("figures").size(), 9U);
  EXPECT_EQ(folders(), 0U);
}

TEST_F(BridgeBenchCommand, CtrlCReportsWhatItHasAndLeavesNothing) {
  const pid_t pid = start({"--only", "foxglove", "--seconds", "60"});
  std::this_thread::sleep_for(std::chrono::seconds(2));
  ::kill(pid, SIGINT);
  EXPECT_EQ(end_of(pid), 1);
  if (has_no_network()) GTEST_SKIP() << errors();
  EXPECT_NE(errors().find("interrupted"), std::string::npos) << errors();
  EXPECT_EQ(folders(), 0U);
}

TEST_F(BridgeBenchCommand, HasASharedMemoryOfItsOwnWhereItMayMount) {
  const pid_t probe = ::fork();
  if (probe == 0) ::_exit(::unshare(CLONE_NEWNS) == 0 ? 0 : 1);
  if (end_of(probe) != 0) GTEST_SKIP() << "no right to mount";
  const pid_t pid = start({"--only", "foxglove", "--seconds", "60"});
  const auto device = [](const std::string& path) {
    struct stat is{};
    return ::stat(path.c_str(), &is) == 0 ? is.st_dev : 0;
  };
  const std::string its = "/proc/" + std::to_string(pid) + "/root/dev/shm";
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (device(its) == device("/dev/shm") && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_NE(device(its), device("/dev/shm"));
  EXPECT_NE(device(its), 0U) << errors();
  ::kill(pid, SIGTERM);
  end_of(pid);
}

TEST_F(BridgeBenchCommand, WrongWordsAreUsageErrors) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--only", "ros"}, {"--runs", "-1"}, {"--seconds", "0.5"}, {"--sped"}}) {
    EXPECT_EQ(bench(words), 2) << words[0];
    EXPECT_FALSE(errors().empty()) << words[0];
  }
  EXPECT_EQ(bench({"--only", "ros"}), 2);
  EXPECT_NE(errors().find("dds-out"), std::string::npos) << errors();
}

}  // namespace
