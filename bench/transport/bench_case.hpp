// SPDX-License-Identifier: Apache-2.0
// The bench as a user starts it, for tests.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cardan::bench {

using Json = nlohmann::json;
namespace fs = std::filesystem;

struct Ended {
  int code = -1;
  std::string out, err;
};

inline std::string content_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

class TransportBench : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("cardan-bench-test-" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "tmp");
  }
  void TearDown() override { fs::remove_all(folder_); }

  pid_t start(std::vector<std::string> words) {
    words.insert(words.begin(), {driver_, "bench", part_});
    std::vector<char*> arguments;
    for (auto& w : words) arguments.push_back(w.data());
    arguments.push_back(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::setenv("TMPDIR", (folder_ / "tmp").c_str(), 1);
      if (std::freopen((folder_ / "out").c_str(), "w", stdout) == nullptr) ::_exit(126);
      if (std::freopen((folder_ / "err").c_str(), "w", stderr) == nullptr) ::_exit(126);
      ::execv(driver_.c_str(), arguments.data());
      ::_exit(127);
    }
    return pid;
  }

  Ended join(pid_t pid) {
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    Ended ended{WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), content_of(folder_ / "out"),
                content_of(folder_ / "err")};
    EXPECT_TRUE(fs::is_empty(folder_ / "tmp")) << "the bench did not remove something";
    return ended;
  }

  Ended bench(std::vector<std::string> words) { return join(start(std::move(words))); }

  [[nodiscard]] Json json() const { return Json::parse(content_of(folder_ / "out.json")); }
  [[nodiscard]] std::string json_path() const { return (folder_ / "out.json").string(); }

  fs::path folder_;
  std::string driver_ = CARDAN_BENCH_DRIVER;
  std::string part_ = "transport";  ///< of `cardan bench`
};

}  // namespace cardan::bench
