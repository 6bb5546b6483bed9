// SPDX-License-Identifier: Apache-2.0
#include "src/base/trusted_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "cardan/error.hpp"

namespace {

using cardan::Error;
using cardan::ErrorCode;
using cardan::TrustedFile;
namespace fs = std::filesystem;

class TrustedFiles : public testing::Test {
 protected:
  TrustedFiles() {
    char name[] = "/tmp/cardan-test-XXXXXX";
    folder_ = ::mkdtemp(name);
    path_ = folder_ + "/file";
  }
  ~TrustedFiles() override { fs::remove_all(folder_); }
  void write(const std::string& text, mode_t mode = 0644) const {
    std::ofstream(path_) << text;
    ::chmod(path_.c_str(), mode);
  }
  /// Why it is not trusted; empty: it is.
  [[nodiscard]] std::string fault(std::size_t most = 100) const {
    try {
      const auto file = TrustedFile::open(path_, most);
      EXPECT_TRUE(file);
      return {};
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::Refused);
      EXPECT_NE(e.cause().find(path_), std::string::npos) << e.cause();
      EXPECT_FALSE(e.remedy().empty());
      return e.cause();
    }
  }
  std::string folder_;
  std::string path_;
};

TEST_F(TrustedFiles, OneOfOursIsRead) {
  EXPECT_FALSE(TrustedFile::open(path_, 100)) << "not there";
  EXPECT_FALSE(TrustedFile::open(path_ + "/below", 100));
  for (const mode_t mode : {0400U, 0600U, 0644U, 0755U}) {
    fs::remove(path_);
    write("words\n", mode);
    const auto file = TrustedFile::open(path_, 100);
    ASSERT_TRUE(file);
    EXPECT_EQ(file->read(), "words\n");
  }
}

TEST_F(TrustedFiles, FilesThatOthersCanWriteAreNotTrusted) {
  for (const mode_t mode : {0666U, 0664U, 0646U, 0602U, 0620U}) {
    write("words", mode);
    EXPECT_NE(fault().find("can be written by others"), std::string::npos) << std::oct << mode;
  }
}

TEST_F(TrustedFiles, FilesOfAnotherUserAreNotTrusted) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: needs root";
  write("words");
  ASSERT_EQ(::chown(path_.c_str(), 47130, 47130), 0);
  EXPECT_NE(fault().find("user 47130"), std::string::npos);
}

TEST_F(TrustedFiles, OnlyARegularFileIsOpenedAndNothingBlocks) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_NE(fault().find("not a regular file"), std::string::npos);
  fs::remove(path_);
  fs::create_directory(path_);
  EXPECT_NE(fault().find("not a regular file"), std::string::npos);
  fs::remove(path_);
  fs::create_symlink("/etc/passwd", path_);
  EXPECT_NE(fault(1 << 20).find("is a link"), std::string::npos);
}

TEST_F(TrustedFiles, ItsSizeIsBounded) {
  write(std::string(100, 'x'));
  EXPECT_EQ(fault(), "");
  write(std::string(101, 'x'));
  EXPECT_NE(fault().find("101 bytes"), std::string::npos);
  write(std::string(100, 'x'));
  const auto file = TrustedFile::open(path_, 100);
  ASSERT_TRUE(file);
  std::ofstream(path_, std::ios::app) << std::string(100, 'x');
  EXPECT_THROW((void)file->read(), Error) << "it has grown since it was opened";
  ASSERT_EQ(::truncate(path_.c_str(), off_t{1} << 40), 0);
  EXPECT_NE(fault(1 << 20).find("more than 1048576"), std::string::npos) << "a hole of a terabyte";
}

TEST_F(TrustedFiles, EachChangeIsAnotherState) {
  write("one");
  const auto first = TrustedFile::open(path_, 100)->state();
  EXPECT_EQ(TrustedFile::open(path_, 100)->state(), first);
  EXPECT_FALSE(first.is_settled()) << "the next change may get the same time";
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  EXPECT_TRUE(first.is_settled());
  write("two");
  EXPECT_NE(TrustedFile::open(path_, 100)->state(), first);
  fs::rename(path_, path_ + "2");
  write("one");
  EXPECT_NE(TrustedFile::open(path_, 100)->state(), first);
}

}  // namespace
