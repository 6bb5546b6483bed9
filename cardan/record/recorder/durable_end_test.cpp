// SPDX-License-Identifier: Apache-2.0
// In which order a recording's end reaches the disk. This program's own calls stand before the C library's and take
// notes.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <mutex>
#include <string>
#include <vector>

#include "cardan/record/recorder/recording_test.hpp"

namespace {

std::mutex mutex;
std::vector<std::string> notes;

/// Only of what is done to the recording.
void note(int fd, const char* call) {
  char path[4096] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  if (::readlink(link.c_str(), path, sizeof path - 1) < 0) return;
  if (!std::string_view(path).ends_with(".mcap.active")) return;
  const std::lock_guard lock(mutex);
  notes.emplace_back(call);
}

template <class F>
F* real(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {
int fdatasync(int fd) {
  note(fd, "fdatasync");
  return real<int(int)>("fdatasync")(fd);
}
int fsync(int fd) {
  note(fd, "fsync");
  return real<int(int)>("fsync")(fd);
}
ssize_t pwrite(int fd, const void* from, std::size_t bytes, off_t offset) {
  note(fd, "pwrite");
  return real<ssize_t(int, const void*, std::size_t, off_t)>("pwrite")(fd, from, bytes, offset);
}
int ftruncate(int fd, off_t bytes) noexcept {
  note(fd, "ftruncate");
  return real<int(int, off_t)>("ftruncate")(fd, bytes);
}
int renameat(int old_folder, const char* from, int new_folder, const char* to) noexcept {
  if (std::string_view(from).ends_with(".mcap.active")) {
    const std::lock_guard lock(mutex);
    notes.emplace_back("rename");
  }
  return real<int(int, const char*, int, const char*)>("renameat")(old_folder, from, new_folder, to);
}
}

namespace cardan::record {
namespace {

using namespace test;

class DurableEnd : public RecorderTest {};

TEST_F(DurableEnd, TheDataAreOnTheDiskBeforeTheEndThatVouchesForThem) {
  Publisher camera{kCamera};
  Recorder recorder(options());
  for (std::uint32_t i = 1; i <= 5; ++i) publish_image(camera, i);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 5; }));
  {
    const std::lock_guard lock(mutex);
    notes.clear();
  }
  recorder.stop();
  // After a power loss a reader believes all that is before a whole end, and what has its name.
  std::vector<std::string> end;
  {
    const std::lock_guard lock(mutex);
    end = notes;
  }
  for (std::size_t i = 1; i < end.size();)  // writes in pieces are one
    i = end[i] == "pwrite" && end[i - 1] == "pwrite" ? (end.erase(end.begin() + static_cast<std::ptrdiff_t>(i)), i)
                                                     : i + 1;
  ASSERT_GE(end.size(), 5U);
  const std::vector<std::string> last(end.end() - 5, end.end());
  EXPECT_EQ(last, (std::vector<std::string>{"fdatasync", "pwrite", "ftruncate", "fsync", "rename"}));
}

}  // namespace
}  // namespace cardan::record
