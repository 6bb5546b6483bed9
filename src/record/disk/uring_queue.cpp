// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <liburing.h>

#include <cerrno>
#include <system_error>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/record/disk/io_queue.hpp"

namespace cardan::record::disk {
namespace {

class UringQueue final : public IoQueue {
 public:
  UringQueue(DiskMode mode, std::size_t entries) : mode_(mode), operations_(entries) {
    // Completions are collected when we ask for them, so that none interrupts us; older kernels do without.
    const auto start = [&](unsigned flags) {
      return -::io_uring_queue_init(static_cast<unsigned>(entries), &ring_, flags);
    };
    deferred_ = true;
    int error = start(IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);
    if (error == EINVAL) {
      deferred_ = false;
      error = start(0);
    }
    if (error != 0)
      throw Error(ErrorCode::System, "io_uring refuses: " + std::generic_category().message(error),
                  "record with --no-io-uring, or allow it (sysctl kernel.io_uring_disabled, RLIMIT_MEMLOCK)");
    free_.reserve(entries);
    for (std::size_t i = entries; i > 0; --i) free_.push_back(i - 1);
  }
  UringQueue(const UringQueue&) = delete;
  UringQueue& operator=(const UringQueue&) = delete;
  ~UringQueue() override {
    std::vector<DiskDone> ignored;
    while (under_way_ > 0) {
      wait(0);
      reap(ignored);
    }
    ::io_uring_queue_exit(&ring_);
  }

  [[nodiscard]] std::size_t room() const noexcept override { return free_.size(); }
  [[nodiscard]] std::size_t under_way() const noexcept override { return under_way_; }

  void write(std::uint64_t id, const DiskWrite& write) noexcept override {
    Operation& o = begin(id, Kind::Write);
    o.write = write;
    o.range_offset = write.offset;
    o.range_bytes = write.bytes();
    prepare(o);
  }
  void sync(std::uint64_t id, int fd) noexcept override {
    Operation& o = begin(id, Kind::Sync);
    o.write = {.fd = fd};
    prepare(o);
  }

  void submit() noexcept override {
    while (unsubmitted_) {
      const int submitted = ::io_uring_submit(&ring_);
      if (submitted == -EINTR) continue;
      // EAGAIN, EBUSY: the kernel is short of something for the moment; the next call tries again.
      unsubmitted_ = submitted < 0 || ::io_uring_sq_ready(&ring_) != 0;
      return;
    }
  }

  void reap(std::vector<DiskDone>& done) override {
    if (under_way_ == 0) return;
    submit();
    if (deferred_) ::io_uring_get_events(&ring_);
    io_uring_cqe* cqe = nullptr;
    while (::io_uring_peek_cqe(&ring_, &cqe) == 0) {
      auto& o = operations_[static_cast<std::size_t>(::io_uring_cqe_get_data64(cqe))];
      const int result = cqe->res;
      ::io_uring_cqe_seen(&ring_, cqe);
      if (needs_another_step(o, result)) {
        prepare(o);
        continue;
      }
      --under_way_;
      done.push_back({.id = o.id, .error = o.error, .submitted_ns = o.submitted_ns, .completed_ns = steady_now()});
      free_.push_back(static_cast<std::size_t>(&o - operations_.data()));
    }
    submit();  // the rest
  }

  void wait(std::int64_t until_ns) noexcept override {
    submit();
    if (until_ns == 0 && unsubmitted_) until_ns = steady_now() + 1'000'000;  // perhaps the kernel has nothing
    io_uring_cqe* cqe = nullptr;
    if (until_ns == 0) {
      ::io_uring_wait_cqe(&ring_, &cqe);
      return;
    }
    const std::int64_t left = until_ns - steady_now();
    if (left <= 0) return;
    __kernel_timespec time{.tv_sec = left / 1'000'000'000, .tv_nsec = left % 1'000'000'000};
    ::io_uring_wait_cqe_timeout(&ring_, &cqe, &time);
  }

 private:
  enum class Kind : std::uint8_t { Write, WriteBack, Sync };
  struct Operation {
    std::uint64_t id = 0;
    Kind kind = Kind::Write;
    DiskWrite write{};
    std::uint64_t range_offset = 0, range_bytes = 0;  ///< of the whole write
    int error = 0;
    int retries = 0;
    std::int64_t submitted_ns = 0;
  };

  Operation& begin(std::uint64_t id, Kind kind) noexcept {
    Operation& o = operations_[free_.back()];
    free_.pop_back();
    ++under_way_;
    o = {.id = id, .kind = kind, .submitted_ns = steady_now()};
    return o;
  }

  void prepare(Operation& o) noexcept {
    io_uring_sqe* sqe = ::io_uring_get_sqe(&ring_);
    while (sqe == nullptr) {  // one entry for each operation: only until the kernel takes the last ones
      unsubmitted_ = true;
      submit();
      sqe = ::io_uring_get_sqe(&ring_);
    }
    switch (o.kind) {
      case Kind::Write:
        ::io_uring_prep_writev2(sqe, o.write.fd, o.write.parts.data(), o.write.part_count, o.write.offset,
                                (mode_ == DiskMode::DontCache ? kDontCache : 0) | (o.write.durable ? RWF_DSYNC : 0));
        break;
      case Kind::WriteBack:
        ::io_uring_prep_sync_file_range(sqe, o.write.fd, static_cast<unsigned>(o.range_bytes), o.range_offset,
                                        SYNC_FILE_RANGE_WRITE);
        break;
      case Kind::Sync:
        ::io_uring_prep_fsync(sqe, o.write.fd, IORING_FSYNC_DATASYNC);
        break;
    }
    ::io_uring_sqe_set_data64(sqe, static_cast<std::uint64_t>(&o - operations_.data()));
    unsubmitted_ = true;
  }

  /// After a completion: whether there is more to do for this operation.
  bool needs_another_step(Operation& o, int result) noexcept {
    constexpr int kMostRetries = 1000;
    if ((result == -EINTR || result == -EAGAIN) && ++o.retries <= kMostRetries) return true;
    if (result < 0) {
      o.error = o.kind == Kind::WriteBack ? 0 : -result;  // write-back only frees the page cache earlier
      return false;
    }
    if (o.kind != Kind::Write) return false;
    const auto written = static_cast<std::uint64_t>(result);
    if (written < o.write.bytes()) {
      const std::uint64_t before = o.write.offset;
      advance(o.write, written, mode_ == DiskMode::Direct);
      // Nothing was written: the next try reports the disk's error, or succeeds.
      if (o.write.offset == before && ++o.retries > kMostRetries) o.error = EIO;
      return o.error == 0;
    }
    if (mode_ != DiskMode::SyncRange) return false;
    o.kind = Kind::WriteBack;
    return true;
  }

  io_uring ring_{};
  DiskMode mode_;
  bool deferred_ = false;
  bool unsubmitted_ = false;
  std::size_t under_way_ = 0;
  std::vector<Operation> operations_;
  std::vector<std::size_t> free_;
};

}  // namespace

std::unique_ptr<IoQueue> make_uring_queue(DiskMode mode, std::size_t entries) {
  return std::make_unique<UringQueue>(mode, entries);
}

}  // namespace cardan::record::disk
