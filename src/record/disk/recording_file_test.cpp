// SPDX-License-Identifier: Apache-2.0
#include "src/record/disk/recording_file.hpp"

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <string>

namespace cardan::record {
namespace {

bool is_in_memory(const std::string& folder) {
  struct statfs system{};
  return ::statfs(folder.c_str(), &system) == 0 && system.f_type == TMPFS_MAGIC;
}

// There, room is memory, and it is filled with zeros when it is allocated: seconds for what a recording reserves.
TEST(RecordingFile, ReservesNothingInMemory) {
  const std::string folder = "/dev/shm";
  if (!is_in_memory(folder)) GTEST_SKIP() << folder << " is not in memory here";
  RecordingFile file(folder + "/cardan-disk-" + std::to_string(::getpid()), DiskMode::Plain);
  EXPECT_EQ(file.allocate_to(64 << 20), 0);
  struct stat status{};
  ASSERT_EQ(::fstat(file.fd(), &status), 0);
  EXPECT_EQ(status.st_blocks, 0);
  EXPECT_EQ(file.allocated(), RecordingFile::kAllOfIt);
  file.remove();
}

}  // namespace
}  // namespace cardan::record
