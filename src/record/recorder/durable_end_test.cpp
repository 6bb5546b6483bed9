// SPDX-License-Identifier: Apache-2.0
// In which order a recording's end reaches the disk. This program's own calls precede the C library's and take
// notes.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "src/record/recorder/recording_test.hpp"

namespace {

std::mutex mutex;
std::vector<std::string> notes;
int fails = 0;      // calls of fdatasync() from now on; under mutex
bool held = false;  // those that are made now do not come back; under mutex
int waiting = 0;    // of them; under mutex
std::condition_variable let_go;

bool is_recording(int fd) {
  char path[4096] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  return ::readlink(link.c_str(), path, sizeof path - 1) >= 0 && std::string_view(path).ends_with(".mcap.active");
}

/// Only of what is done to the recording.
void note(int fd, const char* call) {
  if (!is_recording(fd)) return;
  const std::lock_guard lock(mutex);
  notes.emplace_back(call);
}

/// As a kernel that could not write what it had: it says so, and has forgotten it.
bool has_failed(int fd) {
  if (!is_recording(fd)) return false;
  std::unique_lock lock(mutex);
  ++waiting;
  let_go.wait(lock, [] { return !held; });
  --waiting;
  return fails != 0 && fails-- != 0;
}

template <class F>
F* real(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {
int fdatasync(int fd) {
  note(fd, "fdatasync");
  if (has_failed(fd)) {
    errno = EIO;
    return -1;
  }
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
int renameat2(int old_folder, const char* from, int new_folder, const char* to, unsigned flags) noexcept {
  if (std::string_view(from).ends_with(".mcap.active")) {
    const std::lock_guard lock(mutex);
    notes.emplace_back("rename");
  }
  return real<int(int, const char*, int, const char*, unsigned)>("renameat2")(old_folder, from, new_folder, to, flags);
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

template <class Do>
auto locked(Do what) {
  const std::lock_guard lock(mutex);
  return what();
}

/// Waits for a sync that begins from now on, and is over.
bool is_synced() {
  for (int i = 0; i < 2; ++i) {
    locked([] { notes.clear(); });
    if (!reaches(
            [] { return locked([] { return std::find(notes.begin(), notes.end(), "fdatasync") != notes.end(); }); }))
      return false;
  }
  return true;
}

TEST_F(DurableEnd, DataThatASyncLostIsNotRecordedAndTheRecordingContinues) {
  RecorderOptions o = options();
  o.mode = DiskMode::Plain;
  o.use_io_uring = false;  // fdatasync() is ours
  o.sync_interval = 50ms;
  o.split_bytes = 1 << 30;
  Publisher camera{kCamera};
  Publisher imu{kImu};
  Recorder recorder(o);
  for (std::uint32_t i = 1; i <= 3; ++i) publish_image(camera, i);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 3; }));
  ASSERT_TRUE(is_synced());
  // Data that come while a sync is under way are with the kernel alone when that one fails.
  locked([] { held = true; });
  ASSERT_TRUE(reaches([] { return locked([] { return waiting == 1; }); }));
  for (std::uint32_t i = 4; i <= 6; ++i) publish_image(camera, i);
  publish_imu(imu, 1);  // a channel that goes with its first message
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 7; }));
  locked([] {
    fails = 1;
    held = false;
  });
  let_go.notify_all();
  ASSERT_TRUE(reaches([&] { return recorder.report().files.size() == 1; })) << recorder.report().failure;
  publish_image(camera, 7);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded + recorder.report().lost == 8; }));
  recorder.stop();
  const RecorderReport report = recorder.report();
  EXPECT_EQ(report.failure, "");
  ASSERT_EQ(report.files.size(), 2U);
  for (const std::string& file : report.files) expect_good(file);
  EXPECT_EQ(numbers_in(report.files[0], kCamera.name), up_to(3));
  EXPECT_EQ(mcap::Reader(report.files[0]).summary().channels().size(), 1U);
  EXPECT_EQ(numbers_in(report.files[1], kCamera.name).back(), 7U);
  EXPECT_EQ(numbers_in(report.files[1], kImu.name), up_to(1)) << "a new file begins with it";
  EXPECT_EQ(report.recorded, 4U);
  EXPECT_EQ(of_topic(report, kCamera.name).lost[static_cast<std::size_t>(LossCause::DiskFailed)], 3U);
  EXPECT_EQ(report.lost, 4U);
}

TEST_F(DurableEnd, AfterALastSyncThatFailedOnlyDurableDataIsTrusted) {
  RecorderOptions o = options();
  o.sync_interval = 0s;
  o.checksums = false;
  Publisher imu{kImu};
  Recorder recorder(o);
  publish_imu(imu, 1);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 1; }));
  locked([] { fails = 1; });
  recorder.stop();
  EXPECT_NE(recorder.report().failure, "");
  const mcap::Reader reader(o.path + ".active");
  EXPECT_FALSE(reader.complete());
  EXPECT_EQ(reader.summary().statistics().message_count, 0U) << "the kernel may have forgotten it";
  EXPECT_EQ(recorder.report().recorded, 0U) << "the report counts what the file has";
  EXPECT_EQ(of_topic(recorder.report(), kImu.name).lost[static_cast<std::size_t>(LossCause::DiskFailed)], 1U);
}

}  // namespace
}  // namespace cardan::record
