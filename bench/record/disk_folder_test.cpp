// SPDX-License-Identifier: Apache-2.0
#include "bench/record/disk_folder.hpp"

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <filesystem>
#include <fstream>

#include "cardan/error.hpp"

namespace cardan::bench::recording {
namespace {

namespace fs = std::filesystem;

TEST(DiskFolder, MemoryIsNotADisk) {
  EXPECT_STREQ(memory_file_system(TMPFS_MAGIC), "tmpfs");
  EXPECT_STREQ(memory_file_system(RAMFS_MAGIC), "ramfs");
  EXPECT_EQ(memory_file_system(EXT4_SUPER_MAGIC), nullptr);
  struct statfs info{};
  if (::statfs("/dev/shm", &info) != 0 || info.f_type != TMPFS_MAGIC) GTEST_SKIP() << "/dev/shm is not a tmpfs here";
  try {
    const DiskFolder folder("/dev/shm", false);
    FAIL() << "it took a tmpfs";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("tmpfs"), std::string::npos) << e.what();
    EXPECT_NE(e.remedy().find("--folder"), std::string::npos);
  }
}

TEST(DiskFolder, IsItsOwnAndGoes) {
  struct statfs info{};
  const std::string parent = fs::current_path().string();
  if (::statfs(parent.c_str(), &info) != 0 || memory_file_system(static_cast<std::int64_t>(info.f_type)) != nullptr)
    GTEST_SKIP() << "the tests do not run on a disk";
  std::string path;
  {
    DiskFolder folder(parent, false);
    path = folder.path();
    EXPECT_TRUE(fs::is_directory(path));
    EXPECT_GT(folder.free_bytes(), 0U);
    EXPECT_NE(folder.file_system().find(" on "), std::string::npos) << folder.file_system();
    std::ofstream(folder.file("a")) << "a";
    EXPECT_EQ(folder.files(), std::vector<std::string>{path + "/a"});
    DiskFolder::synchronize(folder.files());
    folder.clear();
    EXPECT_TRUE(folder.files().empty());
    std::ofstream(folder.file("b")) << "b";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(DiskFolder, FilesToBeKeptStay) {
  struct statfs info{};
  const std::string parent = fs::current_path().string();
  if (::statfs(parent.c_str(), &info) != 0 || memory_file_system(static_cast<std::int64_t>(info.f_type)) != nullptr)
    GTEST_SKIP() << "the tests do not run on a disk";
  std::string path;
  {
    DiskFolder folder(parent, true);
    path = folder.path();
    std::ofstream(folder.file("a")) << "a";
    folder.clear();
  }
  EXPECT_TRUE(fs::exists(path + "/a"));
  fs::remove_all(path);
}

TEST(DiskFolder, AFolderThatIsNotThereIsReported) { EXPECT_THROW(DiskFolder("/nowhere/at/all", false), Error); }

TEST(MountOf, TakesTheLongestAndUnescapes) {
  const std::string info =
      "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
      "30 22 259:1 / /mnt/my\\040disk rw,noatime - xfs /dev/nvme0n1 rw\n"
      "31 22 0:5 / /mnt rw - tmpfs tmpfs rw\n";
  EXPECT_EQ(mount_of(info, "/mnt/my disk/drive"), "xfs on /dev/nvme0n1 (rw,noatime)");
  EXPECT_EQ(mount_of(info, "/mnt/my disks"), "tmpfs on tmpfs (rw)");
  EXPECT_EQ(mount_of(info, "/home"), "ext4 on /dev/vda (rw,relatime)");
  EXPECT_EQ(mount_of("", "/home"), "");
}

}  // namespace
}  // namespace cardan::bench::recording
