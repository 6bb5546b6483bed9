// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/crash_report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cardan/error.hpp"

namespace cardan::launcher {
namespace {

namespace fs = std::filesystem;

class CrashReports : public testing::Test {
 protected:
  CrashReports() {
    std::string name = (fs::temp_directory_path() / "cardan-reports.XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~CrashReports() override { fs::remove_all(folder_); }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder_)) all.push_back(entry.path().filename());
    std::sort(all.begin(), all.end());
    return all;
  }
  std::string folder_;
};

TEST_F(CrashReports, TheNewestOfAProcessStay) {
  const std::vector<std::string> others{"crash-a-b-20260101-000000-1.txt", "crash-a-20260101-000000-x.txt", "notes.txt",
                                        "crash-a-20260101.txt"};
  for (const std::string& name : others) std::ofstream(folder_ + "/" + name) << "kept";
  for (pid_t pid = 1000; pid < 1050; ++pid)
    (void)write({.process = "a", .pid = pid, .wall_ns = 1'700'000'000'000'000'000 + pid * 1'000'000'000LL}, folder_);
  const std::vector<std::string> left = names();
  EXPECT_EQ(left.size(), kMostReports + others.size());
  for (const std::string& name : others) EXPECT_TRUE(fs::exists(folder_ + "/" + name)) << name;
  EXPECT_TRUE(std::any_of(left.begin(), left.end(), [](const auto& n) { return n.ends_with("-1049.txt"); }));
  EXPECT_TRUE(std::none_of(left.begin(), left.end(), [](const auto& n) { return n.ends_with("-1029.txt"); }));
}

TEST_F(CrashReports, ALinkOfAnotherUserLeadsNoReportElsewhere) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a link to another user";
  const std::string mine = folder_ + "/mine", link = folder_ + "/out";
  fs::create_directory(mine);
  fs::create_directory_symlink(mine, link);
  ASSERT_EQ(::lchown(link.c_str(), 65'533, 65'533), 0);
  EXPECT_THROW((void)write({.process = "a", .pid = 1}, link), Error);
  EXPECT_TRUE(fs::is_empty(mine));
}

}  // namespace
}  // namespace cardan::launcher
