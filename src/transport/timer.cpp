// SPDX-License-Identifier: Apache-2.0
#include "cardan/wait_any.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>

#include "cardan/error.hpp"
#include "src/base/bound_fd.hpp"

namespace cardan {
namespace {

timespec timer_timespec(std::chrono::nanoseconds t) {
  return {.tv_sec = t.count() / 1'000'000'000, .tv_nsec = t.count() % 1'000'000'000};
}

}  // namespace

Timer::Timer(std::chrono::nanoseconds period) : fd_(std::make_unique<detail::BoundFd>()) {
  *fd_ = detail::BoundFd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  const itimerspec spec{.it_interval = timer_timespec(period), .it_value = timer_timespec(period)};
  if (!*fd_ || period.count() <= 0 || ::timerfd_settime(fd_->get(), 0, &spec, nullptr) != 0)
    throw Error(ErrorCode::Limit, std::string("cannot make a timer: ") + std::strerror(errno),
                "use a period above zero, and raise ulimit -n");
}
Timer::Timer(Timer&& other) noexcept = default;
Timer& Timer::operator=(Timer&& other) noexcept = default;
Timer::~Timer() = default;

std::uint64_t Timer::expired() noexcept {
  std::uint64_t count = 0;
  return ::read(fd(), &count, sizeof(count)) == sizeof(count) ? count : 0;
}
int Timer::fd() const noexcept { return fd_ == nullptr ? -1 : fd_->get(); }

}  // namespace cardan
