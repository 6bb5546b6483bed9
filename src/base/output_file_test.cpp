// SPDX-License-Identifier: Apache-2.0
#include "src/base/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "cardan/error.hpp"

namespace cardan {
namespace {

namespace fs = std::filesystem;
constexpr uid_t kStranger = 65'533;

class OutputFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "cardan-output-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = folder_ / "report.json";
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void give_to_stranger(const fs::path& path) {
    ASSERT_EQ(::lchown(path.c_str(), kStranger, kStranger), 0);
    if (!fs::is_symlink(path)) {
      ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
    }
  }

  fs::path folder_, path_;
};

TEST_F(OutputFile, IsMadeOrEmptied) {
  write_output(path_, "a long text");
  EXPECT_EQ(content(path_), "a long text");
  write_output(path_, "short");
  EXPECT_EQ(content(path_), "short");
  fs::create_symlink(path_, folder_ / "link");
  write_output(folder_ / "link", "by a link of this user");
  EXPECT_EQ(content(path_), "by a link of this user");
  write_output("/dev/null", "lost");
  EXPECT_THROW(write_output("/dev/full", "too much"), Error);
  EXPECT_THROW(write_output(folder_ / "none" / "a", "x"), Error);
}

TEST_F(OutputFile, APipeThatTheUserNamesIsWritten) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const Fd read(ends[0]), write(ends[1]);
  write_output("/dev/fd/" + std::to_string(write.get()), "words");
  std::array<char, 16> got{};
  EXPECT_EQ(::read(read.get(), got.data(), got.size()), 5);
}

TEST_F(OutputFile, AFileOfAnotherUserGetsNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  const fs::path mine = folder_ / "mine";
  std::ofstream(mine) << "precious";
  std::ofstream(path_) << "planted";
  give_to_stranger(path_);
  EXPECT_THROW(write_output(path_, "secret"), Error);
  EXPECT_EQ(content(path_), "planted");
  fs::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0666), 0);
  give_to_stranger(path_);
  EXPECT_THROW(write_output(path_, "secret"), Error) << "nor waits for a reader";
  fs::remove(path_);
  fs::create_symlink(mine, path_);
  give_to_stranger(path_);
  EXPECT_THROW(write_output(path_, "secret"), Error);
  EXPECT_THROW(refuse_output_of_others(path_), Error);
  EXPECT_EQ(content(mine), "precious");
}

TEST_F(OutputFile, OfAFolderALinkOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  fs::create_directory(folder_ / "mine");
  fs::create_directory_symlink(folder_ / "mine", path_);
  EXPECT_NO_THROW(make_output_folder(path_));
  give_to_stranger(path_);
  EXPECT_THROW(make_output_folder(path_), Error);
  EXPECT_THROW(refuse_output_of_others(path_), Error);
  EXPECT_THROW(refuse_output_of_others(path_.string() + "//"), Error);
  EXPECT_NO_THROW(refuse_output_of_others(folder_ / "mine"));
  EXPECT_NO_THROW(refuse_output_of_others(folder_ / "none"));
  EXPECT_NO_THROW(refuse_output_of_others("/"));
  EXPECT_NO_THROW(make_output_folder(folder_ / "mine/a/b"));
  EXPECT_TRUE(fs::is_directory(folder_ / "mine/a/b"));
}

}  // namespace
}  // namespace cardan
