// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/timerfd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "cardan/base/bound_fd.hpp"
#include "cardan/base/error.hpp"

namespace cardan {

/// A periodic timer for wait_any(). It uses absolute deadlines of the steady clock and does not drift. The constructor
/// throws Error (Limit).
/// Thread safety: one thread at a time.
class Timer {
 public:
  explicit Timer(std::chrono::nanoseconds period) : fd_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
    const itimerspec spec{.it_interval = to_timespec(period), .it_value = to_timespec(period)};
    if (!fd_ || period.count() <= 0 || ::timerfd_settime(fd_.get(), 0, &spec, nullptr) != 0)
      throw Error(ErrorCode::Limit, std::string("cannot make a timer: ") + std::strerror(errno),
                  "use a period above zero, and raise ulimit -n");
  }
  /// Number of periods that have passed since the last call; 0: none. Never blocks; one system call.
  std::uint64_t expired() noexcept {
    std::uint64_t count = 0;
    return ::read(fd_.get(), &count, sizeof(count)) == sizeof(count) ? count : 0;
  }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  static timespec to_timespec(std::chrono::nanoseconds t) {
    return {.tv_sec = t.count() / 1'000'000'000, .tv_nsec = t.count() % 1'000'000'000};
  }
  BoundFd fd_;
};

}  // namespace cardan
