// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/log_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cardan/error.hpp"

namespace cardan::launcher {
namespace {

class LogFiles : public testing::Test {
 protected:
  LogFiles() {
    char name[] = "/tmp/cardan-log-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~LogFiles() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  [[nodiscard]] std::string path(const char* name = "log") const { return folder_ + "/" + name; }
  static std::string contents(const std::string& file) {
    std::ifstream in(file);
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
  }
  std::string folder_;
};

TEST_F(LogFiles, NoLineIsLostOrTornAndTheSizesAreBounded) {
  {
    LogFile log({.path = path(), .bytes = 1024, .files = 3});
    for (int i = 0; i < 100; ++i) log.add("line " + std::to_string(1000 + i) + "\n");  // 1,000 bytes
    EXPECT_EQ(log.trouble(), "");
  }
  EXPECT_EQ(contents(path()).size(), 1000U) << "it fits";
  EXPECT_FALSE(std::filesystem::exists(path("log.1")));
  {
    LogFile log({.path = path(), .bytes = 1024, .files = 3});
    for (int i = 100; i < 900; ++i) log.add("line " + std::to_string(1000 + i) + "\n");
  }
  std::string all;
  for (const char* name : {"log.3", "log.2", "log.1", "log"}) {
    const std::string text = contents(path(name));
    EXPECT_LE(text.size(), 1024U) << name;
    EXPECT_TRUE(text.ends_with("\n")) << name;
    all += text;
  }
  EXPECT_FALSE(std::filesystem::exists(path("log.4")));
  ASSERT_TRUE(all.ends_with("line 1899\n")) << all;
  std::istringstream lines(all);
  int expected = 1900 - static_cast<int>(all.size() / 10);
  for (std::string line; std::getline(lines, line); ++expected) ASSERT_EQ(line, "line " + std::to_string(expected));
}

TEST_F(LogFiles, ALineThatIsLongerThanAFileIsCutIntoSeveral) {
  {
    LogFile log({.path = path(), .bytes = 1024, .files = 9});
    log.add(std::string(3000, 'x') + "\n");
  }
  EXPECT_EQ(contents(path("log.2")).size(), 1024U);
  EXPECT_EQ(contents(path()).size(), 3001U - 2048U);
}

TEST_F(LogFiles, LinesThatCouldNotBeWrittenInTheEndAreReported) {
  const std::string folder = path("folder");
  std::filesystem::create_directory(folder);
  {
    LogFile log({.path = folder + "/log", .bytes = 1024, .files = 1});
    std::filesystem::remove_all(folder);
    const std::string line(600, 'x');
    for (int i = 0; i < 3; ++i) log.add(line + "\n");  // the second one needs a new file
    EXPECT_EQ(log.close(), "cannot open the log " + folder + "/log: No such file or directory; 2 lines are not in it");
    EXPECT_EQ(log.close(), "") << "said once";
  }
  LogFile log({.path = path()});
  log.add("a line\n");
  EXPECT_EQ(log.close(), "");
  EXPECT_EQ(contents(path()), "a line\n");
}

TEST_F(LogFiles, LinksPipesAndFoldersAreRefused) {
  std::ofstream(path("victim")) << "untouched\n";
  ASSERT_EQ(::symlink(path("victim").c_str(), path("link").c_str()), 0);
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const char* name : {"link", "pipe", ".", "nowhere/log"})
    EXPECT_THROW(LogFile({.path = path(name)}), Error) << name;
  EXPECT_EQ(contents(path("victim")), "untouched\n");
  EXPECT_THROW(LogFile({.path = path(), .bytes = 10}), Error);
}

TEST_F(LogFiles, AFileOfAnotherUserGetsNoLine) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  std::ofstream(path()) << "planted\n";
  ASSERT_EQ(::chown(path().c_str(), 65'533, 65'533), 0);
  ASSERT_EQ(::chmod(path().c_str(), 0666), 0);
  EXPECT_THROW(LogFile({.path = path()}), Error);
  EXPECT_EQ(contents(path()), "planted\n");
}

TEST_F(LogFiles, AFolderThatGoesAwayIsReportedOnce) {
  const std::string folder = path("folder");
  std::filesystem::create_directory(folder);
  std::string trouble;
  {
    LogFile log({.path = folder + "/log", .bytes = 1024, .files = 1});
    std::filesystem::remove_all(folder);
    const std::string line(600, 'x');
    for (int i = 0; i < 100; ++i) log.add(line + "\n");
    for (int i = 0; i < 10'000 && trouble.empty(); ++i) {
      ::usleep(1000);
      trouble = log.trouble();
    }
    EXPECT_EQ(trouble, "cannot open the log " + folder + "/log: No such file or directory");
    log.add(line);
  }
}

}  // namespace
}  // namespace cardan::launcher
