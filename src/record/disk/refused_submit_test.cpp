// SPDX-License-Identifier: Apache-2.0
// A kernel that takes a part of what it is given, or nothing for a while. This program's own io_uring_submit comes
// before the library's.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <liburing.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <vector>

#include "cardan/detail/fd.hpp"
#include "src/record/disk/io_queue.hpp"

namespace {

enum class Kernel { Honest, TakesOne, RefusesTwice };
Kernel kernel = Kernel::Honest;
int calls = 0, refused = 0, cut_short = 0;

}  // namespace

extern "C" int io_uring_submit(io_uring* ring) {
  static const auto real = reinterpret_cast<int (*)(io_uring*)>(::dlsym(RTLD_NEXT, "io_uring_submit"));
  ++calls;
  if (kernel == Kernel::RefusesTwice && calls % 3 != 0) {
    ++refused;
    return calls % 3 == 1 ? -EAGAIN : -EBUSY;
  }
  const unsigned tail = ring->sq.sqe_tail;
  if (kernel != Kernel::TakesOne || tail - ring->sq.sqe_head < 2) return real(ring);
  ++cut_short;
  ring->sq.sqe_tail = ring->sq.sqe_head + 1;
  const int result = real(ring);
  ring->sq.sqe_tail = tail;
  return result;
}

namespace cardan::record {
namespace {

class RefusedSubmit : public testing::TestWithParam<Kernel> {};

TEST_P(RefusedSubmit, EverythingIsWrittenAllTheSame) {
  std::string folder = (std::filesystem::temp_directory_path() / "cardan-refused-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const struct Removed {
    const std::string& path;
    ~Removed() { std::filesystem::remove_all(path); }
  } removed{folder};
  const DiskProbe probe = probe_disk(folder, DiskMode::Plain, true);
  if (!probe.io_uring) GTEST_SKIP() << probe.why;
  const Fd fd(::open((folder + "/a").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  constexpr std::size_t kWrites = 40, kEntries = 8;
  std::array<std::byte, kWrites> letters{};
  for (std::size_t i = 0; i < kWrites; ++i) letters[i] = static_cast<std::byte>('A' + i);

  kernel = GetParam();
  calls = refused = cut_short = 0;
  std::set<std::uint64_t> seen;
  {
    const auto queue = make_io_queue(probe, kEntries);
    std::vector<DiskDone> done;
    const auto collect = [&] {
      queue->reap(done);
      for (const DiskDone& d : done) {
        EXPECT_EQ(d.error, 0);
        EXPECT_TRUE(seen.insert(d.id).second) << "twice: " << d.id;
      }
      done.clear();
    };
    for (std::size_t i = 0; i < kWrites; ++i) {
      DiskWrite write{.fd = fd.get(), .offset = i};
      write.add(&letters[i], 1);
      queue->write(i, write);
      while (queue->room() == 0) {
        queue->wait(0);  // without an end: it must see to it itself that what was refused is given again
        collect();
      }
    }
    while (queue->under_way() > 0) {
      queue->wait(0);
      collect();
    }
  }
  kernel = Kernel::Honest;
  EXPECT_EQ(seen.size(), kWrites);
  EXPECT_EQ(refused > 0, GetParam() == Kernel::RefusesTwice);
  EXPECT_EQ(cut_short > 0, GetParam() == Kernel::TakesOne);
  std::array<std::byte, kWrites> back{};
  ASSERT_EQ(::pread(fd.get(), back.data(), back.size(), 0), ssize_t{kWrites});
  EXPECT_EQ(back, letters);
}

INSTANTIATE_TEST_SUITE_P(Kernels, RefusedSubmit,
                         testing::Values(Kernel::Honest, Kernel::TakesOne, Kernel::RefusesTwice));

}  // namespace
}  // namespace cardan::record
