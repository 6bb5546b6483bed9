// SPDX-License-Identifier: Apache-2.0
#include "src/record/disk/io_queue.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "cardan/detail/fd.hpp"
#include "cardan/error.hpp"
#include "src/record/disk/recording_file.hpp"

namespace cardan::record {
namespace {

struct Way {
  DiskMode mode;
  bool io_uring;
};

class IoQueueTest : public testing::TestWithParam<Way> {
 protected:
  IoQueueTest() {
    std::string name = (std::filesystem::temp_directory_path() / "cardan-disk-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~IoQueueTest() override { std::filesystem::remove_all(folder_); }

  /// Whether this way works here.
  bool probe() {
    try {
      probe_ = probe_disk(folder_, GetParam().mode, GetParam().io_uring);
      return probe_.io_uring == GetParam().io_uring;
    } catch (const Error&) {
      return false;
    }
  }
  Fd open(const char* name) const {
    return Fd(::open((folder_ + "/" + name).c_str(),
                     O_RDWR | O_CREAT | O_CLOEXEC | (probe_.mode == DiskMode::Direct ? O_DIRECT : 0), 0600));
  }

  std::string folder_;
  DiskProbe probe_;
};

struct FreeMemory {
  void operator()(std::byte* memory) const { std::free(memory); }
};
std::unique_ptr<std::byte, FreeMemory> blocks_of(std::size_t blocks, int value) {
  std::unique_ptr<std::byte, FreeMemory> memory(static_cast<std::byte*>(std::aligned_alloc(4096, blocks * 4096)));
  std::memset(memory.get(), value, blocks * 4096);
  return memory;
}

std::vector<DiskDone> wait_for(IoQueue& queue, std::size_t count) {
  std::vector<DiskDone> done;
  while (done.size() < count) {
    queue.wait(0);
    queue.reap(done);
  }
  return done;
}

TEST_P(IoQueueTest, WritesPartsOneAfterTheOther) {
  if (!probe()) GTEST_SKIP() << "not here: " << probe_.why;
  const Fd fd = open("parts");
  const auto queue = make_io_queue(probe_, 16);
  const auto a = blocks_of(3, 'a'), b = blocks_of(1, 'b');
  constexpr std::size_t kWrites = 12;
  for (std::size_t i = 0; i < kWrites; ++i) {
    DiskWrite write{.fd = fd.get(), .offset = i * 4 * 4096};
    write.add(a.get(), 3 * 4096);
    write.add(b.get(), 4096);
    queue->write(100 + i, write);
  }
  EXPECT_EQ(queue->under_way(), kWrites);
  queue->submit();
  const auto done = wait_for(*queue, kWrites);
  EXPECT_EQ(queue->under_way(), 0U);
  EXPECT_EQ(queue->room(), 16U);
  std::vector<bool> seen(kWrites);
  for (const DiskDone& d : done) {
    EXPECT_EQ(d.error, 0);
    EXPECT_LE(d.submitted_ns, d.completed_ns);
    seen[d.id - 100] = true;
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), std::ptrdiff_t{kWrites});
  queue->sync(7, fd.get());
  EXPECT_EQ(wait_for(*queue, 1)[0].error, 0);
  const auto back = blocks_of(4 * kWrites, 0);
  ASSERT_EQ(::pread(fd.get(), back.get(), 4 * kWrites * 4096, 0), ssize_t{4 * kWrites * 4096});
  for (std::size_t i = 0; i < kWrites; ++i) {
    EXPECT_EQ(std::memcmp(back.get() + i * 4 * 4096, a.get(), 3 * 4096), 0) << i;
    EXPECT_EQ(std::memcmp(back.get() + (i * 4 + 3) * 4096, b.get(), 4096), 0) << i;
  }
}

TEST_P(IoQueueTest, ADurableWriteAndAnErrorComeBack) {
  if (!probe()) GTEST_SKIP() << "not here: " << probe_.why;
  const Fd fd = open("errors");
  const auto queue = make_io_queue(probe_, 4);
  const auto a = blocks_of(1, 'a');
  DiskWrite write{.fd = fd.get(), .durable = true};
  write.add(a.get(), 4096);
  queue->write(1, write);
  EXPECT_EQ(wait_for(*queue, 1)[0].error, 0);
  const Fd read_only(::open((folder_ + "/errors").c_str(), O_RDONLY | O_CLOEXEC));
  write.fd = read_only.get();
  queue->write(2, write);
  const DiskDone done = wait_for(*queue, 1)[0];
  EXPECT_EQ(done.id, 2U);
  EXPECT_EQ(done.error, EBADF);
}

INSTANTIATE_TEST_SUITE_P(Ways, IoQueueTest,
                         testing::Values(Way{DiskMode::Direct, true}, Way{DiskMode::Direct, false},
                                         Way{DiskMode::DontCache, true}, Way{DiskMode::DontCache, false},
                                         Way{DiskMode::SyncRange, true}, Way{DiskMode::SyncRange, false},
                                         Way{DiskMode::Plain, true}, Way{DiskMode::Plain, false}),
                         [](const auto& way) {
                           std::string name = to_string(way.param.mode);
                           std::erase(name, '-');
                           return name + (way.param.io_uring ? "Uring" : "Threads");
                         });

TEST(DiskWrite, ContinuesWhereAShortOneEnded) {
  DiskWrite write{.offset = 8192};
  std::array<std::byte, 3> memory{};
  write.parts = {iovec{memory.data(), 8192}, iovec{memory.data(), 4096}, iovec{memory.data(), 100}};
  write.part_count = 3;
  DiskWrite whole = write;
  disk::advance(whole, 9000, true);  // whole blocks alone count
  EXPECT_EQ(whole.offset, 16384U);
  EXPECT_EQ(whole.part_count, 2U);
  EXPECT_EQ(whole.bytes(), 4196U);
  DiskWrite any = write;
  disk::advance(any, 9000, false);
  EXPECT_EQ(any.offset, 17192U);
  EXPECT_EQ(any.bytes(), 12388U - 9000);
  disk::advance(any, any.bytes(), false);
  EXPECT_EQ(any.part_count, 0U);
}

TEST(DiskProbe, SaysWhatItChoseAndWhy) {
  const DiskProbe best = probe_disk("/tmp", std::nullopt, true);
  EXPECT_NE(best.why.find(to_string(best.mode)), std::string::npos) << best.why;
  const DiskProbe memory = probe_disk("/dev/shm", std::nullopt, true);  // a tmpfs
  EXPECT_NE(memory.why.find(to_string(memory.mode)), std::string::npos) << memory.why;
  EXPECT_FALSE(probe_disk("/tmp", DiskMode::Plain, false).io_uring);
  try {
    (void)probe_disk("/proc", std::nullopt, true);
    FAIL() << "nobody can write there";
  } catch (const Error& e) {
    EXPECT_NE(e.cause().find("/proc"), std::string::npos);
    EXPECT_FALSE(e.remedy().empty());
  }
}

}  // namespace
}  // namespace cardan::record
