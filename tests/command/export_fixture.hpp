// SPDX-License-Identifier: Apache-2.0
// Runs `cardan bag export` in its own folder.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/command/export_recording.hpp"

namespace cardan::test {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Rows = std::vector<std::vector<std::string>>;
using Names = std::set<std::string>;

class ExportTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "cardan-export-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    command_ = std::getenv("CARDAN_TEST_COMMAND");
  }
  void TearDown() override {
    if (running_ > 0) {  // it must not outlive a failed assertion
      ::kill(running_, SIGKILL);
      ::waitpid(running_, nullptr, 0);
    }
    fs::remove_all(folder_);
  }

  [[nodiscard]] std::string file() const { return folder_ / "drive.mcap"; }

  /// `cardan bag export drive.mcap --to to …`
  void start(const std::vector<std::string>& options) {
    std::vector<std::string> words{"cardan", "bag", "export", file(), "--to", folder_ / "to"};
    words.insert(words.end(), options.begin(), options.end());
    running_ = ::fork();
    if (running_ != 0) return;
    for (const auto& [fd, file] : {std::pair(STDOUT_FILENO, "said"), std::pair(STDERR_FILENO, "complained")})
      ::dup2(::open((folder_ / file).c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600), fd);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execv(command_.c_str(), argv.data());
    ::_exit(127);
  }
  int end() {
    int status = 0;
    ::waitpid(running_, &status, 0);
    running_ = -1;
    said_ = read(folder_ / "said");
    complained_ = read(folder_ / "complained");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  int run(const std::vector<std::string>& options = {}) {
    start(options);
    return end();
  }

  static std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // Of what was exported.
  [[nodiscard]] std::string content(const std::string& name) const { return read(folder_ / "to" / name); }
  [[nodiscard]] Rows rows(const std::string& name) const { return rows_of(content(name)); }
  [[nodiscard]] Names names(const std::string& folder = "") const {
    Names all;
    for (const auto& entry : fs::directory_iterator(folder_ / "to" / folder)) all.insert(entry.path().filename());
    return all;
  }

  fs::path folder_, command_;
  std::string said_, complained_;
  pid_t running_ = -1;
};

}  // namespace cardan::test
