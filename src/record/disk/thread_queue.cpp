// SPDX-License-Identifier: Apache-2.0
// Writes by threads that block: for kernels without io_uring, and where it is forbidden.
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "cardan/clock.hpp"
#include "src/record/disk/io_queue.hpp"

namespace cardan::record::disk {
namespace {

class ThreadQueue final : public IoQueue {
 public:
  ThreadQueue(DiskMode mode, std::size_t entries) : mode_(mode), entries_(entries) {
    constexpr int kThreads = 4;  // enough to keep a device's queue filled with writes of megabytes
    for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this] { work(); });
  }
  ThreadQueue(const ThreadQueue&) = delete;
  ThreadQueue& operator=(const ThreadQueue&) = delete;
  ~ThreadQueue() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

  [[nodiscard]] std::size_t room() const noexcept override { return entries_ - under_way_; }
  [[nodiscard]] std::size_t under_way() const noexcept override { return under_way_; }

  void write(std::uint64_t id, const DiskWrite& write) noexcept override { add({id, false, write, steady_now()}); }
  void sync(std::uint64_t id, int fd) noexcept override { add({id, true, {.fd = fd}, steady_now()}); }
  void submit() noexcept override {}

  void reap(std::vector<DiskDone>& done) override {
    const std::lock_guard lock(mutex_);
    under_way_ -= done_.size();
    done.insert(done.end(), done_.begin(), done_.end());
    done_.clear();
  }

  void wait(std::int64_t until_ns) noexcept override {
    std::unique_lock lock(mutex_);
    const auto there = [this] { return !done_.empty(); };
    if (until_ns == 0)
      completed_.wait(lock, there);
    else
      completed_.wait_for(lock, std::chrono::nanoseconds(until_ns - steady_now()), there);
  }

 private:
  struct Work {
    std::uint64_t id;
    bool is_sync;
    DiskWrite write;
    std::int64_t submitted_ns;
  };

  void add(const Work& work) noexcept {
    ++under_way_;
    {
      const std::lock_guard lock(mutex_);
      todo_.push_back(work);
    }
    wake_.notify_one();
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return stop_ || !todo_.empty(); });
      if (todo_.empty()) return;
      Work w = todo_.front();
      todo_.pop_front();
      lock.unlock();
      const int error = w.is_sync ? (::fdatasync(w.write.fd) == 0 ? 0 : errno) : written(w.write);
      lock.lock();
      done_.push_back({.id = w.id, .error = error, .submitted_ns = w.submitted_ns, .completed_ns = steady_now()});
      completed_.notify_one();
    }
  }

  /// Writes all bytes; errno, or 0.
  int written(DiskWrite& w) const noexcept {
    const std::uint64_t offset = w.offset, bytes = w.bytes();
    const int flags = (mode_ == DiskMode::DontCache ? kDontCache : 0) | (w.durable ? RWF_DSYNC : 0);
    int retries = 0;
    while (w.part_count != 0) {
      const ssize_t n =
          ::pwritev2(w.fd, w.parts.data(), static_cast<int>(w.part_count), static_cast<off_t>(w.offset), flags);
      if (n < 0 && errno != EINTR && errno != EAGAIN) return errno;
      if (n <= 0 && ++retries > 1000) return n < 0 ? errno : EIO;
      if (n > 0) advance(w, static_cast<std::uint64_t>(n), mode_ == DiskMode::Direct);
    }
    if (mode_ == DiskMode::SyncRange)
      ::sync_file_range(w.fd, static_cast<off64_t>(offset), static_cast<off64_t>(bytes), SYNC_FILE_RANGE_WRITE);
    return 0;
  }

  DiskMode mode_;
  std::size_t entries_;
  std::size_t under_way_ = 0;  ///< of the user's thread
  std::mutex mutex_;
  std::condition_variable wake_, completed_;
  std::deque<Work> todo_;
  std::vector<DiskDone> done_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<IoQueue> make_thread_queue(DiskMode mode, std::size_t entries) {
  return std::make_unique<ThreadQueue>(mode, entries);
}

}  // namespace cardan::record::disk
