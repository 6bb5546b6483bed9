// SPDX-License-Identifier: Apache-2.0
#include "src/mcap/new_file.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "cardan/error.hpp"
#include "cardan/mcap/input_file.hpp"

namespace cardan::mcap {
namespace {

namespace fs = std::filesystem;

class NewFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "cardan-new-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static View text(const std::string& words) { return std::as_bytes(std::span(words)); }
  static std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(NewFileTest, IsThereWhenItIsDoneAndNotBefore) {
  const fs::path path = folder_ / "a";
  for (const bool to_disk : {true, false}) {
    NewFile file(path, false);
    file.write(text("some "));
    file.write(text("words"));
    EXPECT_FALSE(fs::exists(path));
    file.finish(to_disk);
    EXPECT_EQ(content(path), "some words");
    EXPECT_EQ(files(), 1U);
    fs::remove(path);
  }
  {
    NewFile(path, false).write(text("left"));
  }
  EXPECT_EQ(files(), 0U) << "without finish() nothing stays";
}

TEST_F(NewFileTest, ReplacesFilesOnly) {
  const fs::path path = folder_ / "a";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THROW(NewFile(path, true), Error);
  EXPECT_TRUE(fs::is_fifo(path));
  fs::create_directory(folder_ / "b");
  EXPECT_THROW(NewFile(folder_ / "b", true), Error);
  EXPECT_EQ(files(), 2U);
}

TEST_F(NewFileTest, ReplacesOnlyWhenItMay) {
  const fs::path path = folder_ / "a";
  std::ofstream(path) << "old";
  EXPECT_THROW(NewFile(path, false), Error);
  fs::create_symlink("nowhere", folder_ / "link");
  EXPECT_THROW(NewFile(folder_ / "link", false), Error);
  NewFile file(path, true);
  file.write(text("new"));
  EXPECT_EQ(content(path), "old");
  file.finish();
  EXPECT_EQ(content(path), "new");
}

TEST_F(NewFileTest, OneThatAppearsMeanwhileIsNotReplaced) {
  const fs::path path = folder_ / "a";
  NewFile file(path, false);
  std::ofstream(path) << "theirs";
  EXPECT_THROW(file.finish(), Error);
  EXPECT_EQ(content(path), "theirs");
}

TEST_F(NewFileTest, AFileThatIsReadOrWrittenNowIsNotALeftover) {
  const fs::path path = folder_ / "a", partial = folder_ / "a.partial";
  {
    std::ofstream(partial) << "what a writer left that was killed";
    NewFile file(path, false);
    file.write(text("new"));
    EXPECT_THROW(NewFile(path, false), Error) << "two would write into one file";
    file.finish();
    EXPECT_EQ(content(path), "new");
    fs::remove(path);
  }
  std::ofstream(partial) << "the only copy";
  {
    const InputFile input(partial);
    EXPECT_THROW(NewFile(path, false), Error);
    EXPECT_THROW(NewFile(path, true), Error);
  }
  EXPECT_EQ(content(partial), "the only copy");
  fs::remove(partial);
  ASSERT_EQ(::mkfifo(partial.c_str(), 0600), 0);
  EXPECT_THROW(NewFile(path, false), Error);
}

TEST_F(NewFileTest, APlantedFileGetsNoData) {
  const fs::path path = folder_ / "a", partial = folder_ / "a.partial";
  std::ofstream(partial) << "planted";
  std::ifstream planter(partial, std::ios::binary);  // keeps it, whatever the name leads to later
  {
    NewFile file(path, false);
    file.write(text("secret"));
    file.finish();
  }
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(planter), {}), "planted");
  EXPECT_EQ(content(path), "secret");
  if (::geteuid() != 0) return;  // only root can give a file to another user
  std::ofstream(partial) << "planted";
  ASSERT_EQ(::chown(partial.c_str(), 65'533, 65'533), 0);
  ASSERT_EQ(::chmod(partial.c_str(), 0666), 0);
  EXPECT_THROW(NewFile(path, true), Error);
  EXPECT_EQ(content(partial), "planted") << "it belongs to another user, and that user can read and change it";
}

TEST_F(NewFileTest, AnotherNameOfAFileOfOursIsNotEmptied) {
  const fs::path path = folder_ / "a", partial = folder_ / "a.partial", mine = folder_ / "mine";
  std::ofstream(mine) << "precious";
  fs::create_hard_link(mine, partial);
  NewFile(path, true).write(text("new"));
  EXPECT_EQ(content(mine), "precious");
}

TEST_F(NewFileTest, ALinkIsNotFollowed) {
  const fs::path victim = folder_ / "victim", path = folder_ / "a";
  std::ofstream(victim) << "precious";
  fs::create_symlink(victim, folder_ / "a.partial");
  EXPECT_THROW(NewFile(path, true), Error);
  fs::create_symlink(victim, path);
  fs::remove(folder_ / "a.partial");
  NewFile file(path, true);
  file.write(text("new"));
  file.finish();
  EXPECT_EQ(content(victim), "precious");
  EXPECT_EQ(content(path), "new");
}

}  // namespace
}  // namespace cardan::mcap
