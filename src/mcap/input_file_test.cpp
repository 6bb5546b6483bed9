// SPDX-License-Identifier: Apache-2.0
#include "cardan/mcap/input_file.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "cardan/error.hpp"

namespace cardan::mcap {
namespace {

namespace fs = std::filesystem;

class InputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "cardan-in-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string refusal(const fs::path& path) {
    try {
      const InputFile file(path);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::InvalidArgument);
      return e.cause();
    }
    return "opened";
  }

  fs::path folder_;
};

TEST_F(InputFileTest, OnlyRegularFilesAreOpened) {
  const fs::path pipe = folder_ / "pipe.mcap", name = folder_ / "socket.mcap", link = folder_ / "link.mcap";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(refusal(pipe), pipe.string() + " is a pipe, not a file") << "nobody waits for its writer";
  fs::create_symlink(pipe, link);
  EXPECT_EQ(refusal(link), link.string() + " is a pipe, not a file");
  const Fd listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::strncpy(address.sun_path, name.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(refusal(name), name.string() + " is a socket, not a file");
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero is a device, not a file");
  EXPECT_EQ(refusal(folder_), folder_.string() + " is a folder, not a file");
}

TEST_F(InputFileTest, AFileIsRead) {
  const fs::path path = folder_ / "a";
  std::ofstream(path) << "words";
  const InputFile file(path);
  Bytes content;
  ASSERT_TRUE(file.read_exactly(0, 5, content));
  EXPECT_EQ(std::memcmp(content.data(), "words", 5), 0);
  EXPECT_FALSE(file.read_exactly(1, 5, content));
}

}  // namespace
}  // namespace cardan::mcap
