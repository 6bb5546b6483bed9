// SPDX-License-Identifier: Apache-2.0
#include "src/base/area.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cardan/error.hpp"

namespace {

using cardan::Fd;
using cardan::detail::Area;
using cardan::detail::is_backed;

constexpr std::size_t kPage = 4096;

std::int64_t blocks(int fd) {
  struct stat st{};
  return ::fstat(fd, &st) == 0 ? st.st_blocks : -1;
}

TEST(Area, OnlyItsOwnerMayOpenIt) {
  const Area area("test", kPage);
  struct stat st{};
  ASSERT_EQ(::fstat(area.read_only_fd(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777U, 0400U);
  EXPECT_EQ(st.st_uid, ::geteuid());
}

TEST(Area, TellsWhichPagesHaveMemory) {
  const Area area("test", 16 * kPage);
  const int fd = area.read_only_fd();
  EXPECT_FALSE(is_backed(fd, 0, 1));
  area.commit(2 * kPage, 3 * kPage);
  const auto before = blocks(fd);
  EXPECT_TRUE(is_backed(fd, 2 * kPage, 3 * kPage));
  EXPECT_TRUE(is_backed(fd, 3 * kPage + 17, 100));
  EXPECT_FALSE(is_backed(fd, 2 * kPage, 3 * kPage + 1));
  EXPECT_FALSE(is_backed(fd, kPage, 2 * kPage));
  EXPECT_FALSE(is_backed(fd, 5 * kPage, 1));
  area.commit(15 * kPage, kPage);
  EXPECT_TRUE(is_backed(fd, 15 * kPage, kPage)) << "up to the end";
  EXPECT_FALSE(is_backed(fd, 15 * kPage, kPage + 1)) << "and not beyond";
  EXPECT_FALSE(is_backed(fd, 17 * kPage, 1));
  EXPECT_FALSE(is_backed(fd, ~std::size_t{0} - 10, 100));
  EXPECT_TRUE(is_backed(fd, 0, 0));
  EXPECT_EQ(blocks(fd), before + 8) << "to ask allocates nothing";
}

TEST(Area, TheOwnerDecidesWhereItsPagesComeFrom) {
  const Area area("test", 4 * kPage);
  void* const theirs = ::mmap(nullptr, 4 * kPage, PROT_READ, MAP_SHARED, area.read_only_fd(), 0);
  ASSERT_NE(theirs, MAP_FAILED);
  const unsigned long node = 1;
  if (::syscall(SYS_mbind, theirs, 4 * kPage, MPOL_BIND, &node, sizeof(node) * 8, 0) != 0)
    GTEST_SKIP() << "skipped: no NUMA policies here";
  area.commit(0, 4 * kPage);
  int mode = -1;
  ASSERT_EQ(::syscall(SYS_get_mempolicy, &mode, nullptr, 0, area.data(), MPOL_F_ADDR), 0);
  EXPECT_EQ(mode, MPOL_DEFAULT);
  ::munmap(theirs, 4 * kPage);
}

// Readers look once, and then rely on it.
TEST(Area, PagesThatHaveMemoryKeepIt) {
  constexpr std::size_t kBytes = 8 * kPage;
  const Fd fd(::memfd_create("owner", MFD_CLOEXEC | MFD_ALLOW_SEALING));  // a hostile owner keeps its own descriptor
  ASSERT_EQ(::ftruncate(fd.get(), kBytes), 0);
  void* const data = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  ASSERT_NE(data, MAP_FAILED);
  std::memset(data, 1, kBytes);
  ASSERT_EQ(::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | 0x0010 | F_SEAL_SEAL), 0);
  EXPECT_NO_THROW(cardan::detail::checked_area_size(fd));
  EXPECT_NE(::fallocate(fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, kPage), 0);
  EXPECT_EQ(errno, EPERM);
  if (::madvise(data, kPage, MADV_REMOVE) == 0) {  // qemu-user says so of any advice
    EXPECT_TRUE(is_backed(fd.get(), 0, kPage));
  }
  EXPECT_NE(::ftruncate(fd.get(), 0), 0);
  EXPECT_NE(::fallocate(fd.get(), FALLOC_FL_COLLAPSE_RANGE, 0, kPage), 0);
  EXPECT_NE(::fallocate(fd.get(), FALLOC_FL_ZERO_RANGE, 0, kPage), 0);
  ::madvise(data, kBytes, MADV_DONTNEED);  // of the mapping only
  EXPECT_TRUE(is_backed(fd.get(), 0, kBytes));
  EXPECT_EQ(blocks(fd.get()), static_cast<std::int64_t>(kBytes / 512));
  ::munmap(data, kBytes);
}

}  // namespace
