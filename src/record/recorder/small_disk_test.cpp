// SPDX-License-Identifier: Apache-2.0
// A disk that is small, whatever disk the test runs on: this program's own statvfs() and fallocate() precede the C
// library's, and count what lies in one folder.
#include <dirent.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <thread>

#include "cardan/error.hpp"
#include "src/record/disk/recording_file.hpp"
#include "src/record/recorder/recording_test.hpp"

namespace {

std::mutex disk_mutex;
std::string disk_folder;          // under disk_mutex
std::uint64_t disk_capacity = 0;  // under disk_mutex; 0: the true disk
bool disk_reserves = true;        // under disk_mutex; false: fallocate() is not supported

/// Bytes that its files take, as the file system counts them.
std::uint64_t used_in(const std::string& folder) {
  std::uint64_t sum = 0;
  DIR* const opened = ::opendir(folder.c_str());
  if (opened == nullptr) return 0;
  while (const dirent* const entry = ::readdir(opened)) {
    struct stat status{};
    if (::stat((folder + "/" + entry->d_name).c_str(), &status) == 0 && S_ISREG(status.st_mode))
      sum += static_cast<std::uint64_t>(status.st_blocks) * 512;
  }
  ::closedir(opened);
  return sum;
}

bool is_in(const std::string& folder, int fd) {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), none).parent_path() == folder;
}

template <class F>
F* of_the_library(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {
int statvfs(const char* path, struct statvfs* status) noexcept {
  const int result = of_the_library<int(const char*, struct statvfs*)>("statvfs")(path, status);
  const std::lock_guard lock(disk_mutex);
  if (result != 0 || disk_capacity == 0 || disk_folder != path) return result;
  const std::uint64_t used = used_in(disk_folder);
  status->f_frsize = 4096;
  status->f_bavail = (disk_capacity - std::min(disk_capacity, used)) / 4096;
  return 0;
}
int fstatfs(int fd, struct statfs* status) noexcept {
  const int result = of_the_library<int(int, struct statfs*)>("fstatfs")(fd, status);
  const std::lock_guard lock(disk_mutex);
  // Also where temporary files are in memory. The transport's areas, which this asks about too, stay what they are.
  if (disk_capacity != 0 && is_in(disk_folder, fd)) status->f_type = EXT4_SUPER_MAGIC;
  return result;
}
int fallocate(int fd, int mode, off_t from, off_t bytes) {
  {
    const std::lock_guard lock(disk_mutex);
    if (disk_capacity != 0) {
      if (!disk_reserves) return errno = EOPNOTSUPP, -1;
      if (used_in(disk_folder) + static_cast<std::uint64_t>(bytes) > disk_capacity) return errno = ENOSPC, -1;
    }
  }
  return of_the_library<int(int, int, off_t, off_t)>("fallocate")(fd, mode, from, bytes);
}
}

namespace cardan::record {
namespace {

using namespace test;

constexpr std::uint64_t kMiB = 1 << 20;

class SmallDisk : public RecorderTest {
 protected:
  void make_disk(std::uint64_t capacity, bool reserves) {
    const std::lock_guard lock(disk_mutex);
    disk_folder = folder_;
    disk_capacity = capacity;
    disk_reserves = reserves;
  }
  ~SmallDisk() override {
    watching_ = false;
    if (watcher_.joinable()) watcher_.join();
    const std::lock_guard lock(disk_mutex);
    disk_capacity = 0;
  }
  static void others_take(std::uint64_t bytes) {
    const std::lock_guard lock(disk_mutex);
    disk_capacity -= bytes;
  }
  void watch() {
    watcher_ = std::thread([this] {
      while (watching_) {
        most_ = std::max(most_.load(), used_in(folder_));
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  /// As fast as the recorder takes them: none is lost for lack of time.
  void publish(Recorder& recorder, Publisher<Image>& camera, std::uint32_t frames) {
    for (std::uint32_t i = 1; i <= frames && !recorder.ended(); ++i) {
      publish_image(camera, i);
      const auto is_near = [&] { return recorder.ended() || recorder.report().recorded + 16 >= i; };
      ASSERT_TRUE(reaches(is_near, std::chrono::seconds(60)));
    }
  }
  [[nodiscard]] std::uint64_t most_used() {
    most_ = std::max(most_.load(), used_in(folder_));
    return most_;
  }

  std::atomic<bool> watching_{true};
  std::atomic<std::uint64_t> most_{0};
  std::thread watcher_;
};

TEST_F(SmallDisk, SpaceThatMustStayFreeStaysFree) {
  for (const bool reserves : {true, false}) {
    SCOPED_TRACE(reserves);
    make_disk(96 * kMiB, reserves);
    if (!watcher_.joinable()) watch();
    RecorderOptions o = options();
    o.path = folder_ + (reserves ? "/a.mcap" : "/b.mcap");
    o.min_space = 48 * kMiB;
    o.queue_time = std::chrono::seconds(0);
    Publisher camera{kCamera};
    Recorder recorder(o);
    publish(recorder, camera, 1000);  // 240 MB
    ASSERT_TRUE(reaches([&] { return recorder.ended(); }));
    recorder.stop();
    const RecorderReport report = recorder.report();
    EXPECT_NE(report.failure.find("--min-space"), std::string::npos) << report.failure;
    EXPECT_LE(most_used(), 48 * kMiB);
    EXPECT_GE(most_used(), (reserves ? 40 : 30) * kMiB) << "it ended long before";
    ASSERT_EQ(report.files.size(), 1U) << "in order";
    expect_good(o.path);
    EXPECT_EQ(numbers_in(o.path, kCamera.name), up_to(static_cast<std::uint32_t>(report.recorded)));
    std::filesystem::remove(o.path);
    most_ = 0;
  }
}

TEST_F(SmallDisk, SpaceThatItReservedIsNotMissing) {
  make_disk(3200 * kMiB, true);
  RecorderOptions o = options();
  o.min_space = 3050 * kMiB;
  Publisher imu{kImu};
  Recorder recorder(o);
  ASSERT_TRUE(reaches([&] { return used_in(folder_) > 60 * kMiB; })) << "it has reserved nothing";
  others_take(100 * kMiB);
  ASSERT_LT(free_space(folder_), o.min_space);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);  // it looks four times a second
  std::uint32_t published = 0;
  while (std::chrono::steady_clock::now() < until) {
    publish_imu(imu, ++published);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(recorder.ended()) << recorder.report().failure;
  recorder.stop();
  EXPECT_EQ(numbers_in(o.path, kImu.name), up_to(published));
}

TEST_F(SmallDisk, SpaceThatMustStayFreeIsNotReserved) {
  make_disk(3200 * kMiB, true);
  RecorderOptions o = options();
  o.min_space = 3150 * kMiB;  // it would reserve 100 MiB
  Publisher imu{kImu};
  Recorder recorder(o);
  for (std::uint32_t i = 1; i <= 20; ++i) publish_imu(imu, i);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 20; }));
  EXPECT_GE(free_space(folder_), o.min_space);
  recorder.stop();
  EXPECT_EQ(recorder.report().failure, "");
  EXPECT_EQ(numbers_in(o.path, kImu.name), up_to(20));
}

TEST_F(SmallDisk, OfAFullDiskOneFileASecondIsDeleted) {
  make_disk(3200 * kMiB, true);
  RecorderOptions o = options();
  o.min_space = 3000 * kMiB;
  o.split_bytes = 1 << 20;
  o.on_full = OnFull::DeleteOldest;
  Publisher imu{kImu};
  const auto begin = std::chrono::steady_clock::now();
  Recorder recorder(o);
  constexpr std::size_t kFiles = 6;
  const auto files = [&] {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      count += entry.path().extension() == ".mcap" ? 1U : 0U;
    return count;
  };
  for (std::uint32_t i = 1; i <= kFiles; ++i) {
    publish_imu(imu, i);
    ASSERT_TRUE(reaches([&] { return recorder.report().recorded == i; }));
    recorder.split();
    ASSERT_TRUE(reaches([&] { return files() + 1 > i; }) || recorder.ended());
  }
  others_take(400 * kMiB);
  // The files are small, so deleting them brings no room: it must not delete them all before it sees that.
  EXPECT_TRUE(reaches([&] { return files() < kFiles; }));
  while (std::chrono::steady_clock::now() - begin < std::chrono::seconds(3) && !recorder.ended()) {
    const std::size_t left = files();
    const auto since = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
    ASSERT_GE(left + 1 + static_cast<std::size_t>(since.count()), kFiles);
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_TRUE(reaches([&] { return recorder.ended(); }, std::chrono::seconds(60)))
      << "all are gone, and there is still no room";
  recorder.stop();
  EXPECT_NE(recorder.report().failure.find("--min-space"), std::string::npos) << recorder.report().failure;
}

TEST_F(SmallDisk, OldFilesGoAsFastAsNewOnesCome) {
  make_disk(96 * kMiB, true);
  watch();
  RecorderOptions o = options();
  o.min_space = 24 * kMiB;
  o.split_bytes = 4 * kMiB;
  o.on_full = OnFull::DeleteOldest;
  o.queue_time = std::chrono::seconds(0);
  Publisher camera{kCamera};
  Recorder recorder(o);
  constexpr std::uint32_t kFrames = 1500;  // 360 MB
  publish(recorder, camera, kFrames);
  ASSERT_TRUE(reaches([&] { return recorder.ended() || recorder.report().recorded == kFrames; }));
  recorder.stop();
  const RecorderReport report = recorder.report();
  EXPECT_EQ(report.failure, "");
  EXPECT_EQ(report.lost, 0U);
  EXPECT_LE(most_used(), 72 * kMiB);
  std::vector<std::uint32_t> kept;
  for (const std::string& file : report.files) {
    expect_good(file);
    const auto numbers = numbers_in(file, kCamera.name);
    kept.insert(kept.end(), numbers.begin(), numbers.end());
  }
  ASSERT_FALSE(kept.empty());
  EXPECT_EQ(kept.back(), kFrames);
  EXPECT_EQ(kept.size(), kFrames - kept.front() + 1) << "the newest, without a gap";
  EXPECT_GE(kept.size() * kRows * kColumns * 3, 40 * kMiB) << "of 72 that may be used, but for what is reserved";
  EXPECT_GT(kept.front(), 1U);
}

TEST_F(SmallDisk, ADiskThatIsFullAlreadyIsRefused) {
  make_disk(16 * kMiB, true);
  RecorderOptions o = options();
  o.min_space = 17 * kMiB;
  try {
    const Recorder recorder(o);
    ADD_FAILURE() << "it records";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("--min-space"), std::string::npos) << e.what();
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(SmallDisk, AFullDiskLeavesAFinishedFile) {
  make_disk(40 * kMiB, true);
  watch();
  RecorderOptions o = options();
  o.queue_time = std::chrono::seconds(0);
  Publisher camera{kCamera};
  Recorder recorder(o);
  publish(recorder, camera, 1000);
  ASSERT_TRUE(reaches([&] { return recorder.ended(); }));
  recorder.stop();
  EXPECT_LE(most_used(), 40 * kMiB);
  const RecorderReport report = recorder.report();
  EXPECT_EQ(report.failure.find("less than 0 MiB"), std::string::npos) << report.failure;
  for (const auto& topic : report.topics)
    EXPECT_EQ(topic.lost[static_cast<std::size_t>(LossCause::DiskSlow)], 0U)
        << topic.topic << ": the disk is full, not slow";
  ASSERT_EQ(report.files.size(), 1U) << report.failure;
  expect_good(o.path);
}

TEST_F(SmallDisk, AFolderThatIsDeletedIsNoticed) {
  for (const bool moved : {false, true}) {
    SCOPED_TRACE(moved);
    const std::string inner = folder_ + "/inner", elsewhere = folder_ + "/elsewhere";
    std::filesystem::create_directory(inner);
    RecorderOptions o = options();
    o.path = inner + "/a.mcap";
    Publisher imu{kImu};
    Recorder recorder(o);
    publish_imu(imu, 1);
    ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 1; }));
    if (moved)
      std::filesystem::rename(inner, elsewhere);
    else
      std::filesystem::remove_all(inner);
    EXPECT_TRUE(reaches([&] { return recorder.ended(); }));
    recorder.stop();
    EXPECT_NE(recorder.report().failure.find(moved ? "moved" : "deleted"), std::string::npos)
        << recorder.report().failure;
    if (!moved) continue;
    EXPECT_EQ(numbers_in(elsewhere + "/a.mcap", kImu.name), up_to(1)) << "it is whole where it is now";
  }
}

}  // namespace
}  // namespace cardan::record
