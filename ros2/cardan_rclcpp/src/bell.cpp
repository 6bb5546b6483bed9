// SPDX-License-Identifier: Apache-2.0
#include "cardan_rclcpp/detail/bell.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "cardan_rclcpp/detail/prompt.hpp"

namespace cardan::ros::detail {

namespace {

constexpr std::uint64_t kWake = 0;  // no subscription has this number

std::int64_t now() noexcept {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

}  // namespace

void Ring::ring() noexcept {
  due_.store(true, std::memory_order_release);
  try {
    guard_.trigger();
  } catch (...) {
    // The context has been shut down: nobody spins any more, and nobody misses the sample.
  }
}

std::shared_ptr<Bell> Bell::get() {
  static std::mutex mutex;
  static std::weak_ptr<Bell> shared;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Bell> bell = shared.lock();
  if (!bell) {
    bell.reset(new Bell);
    shared = bell;
  }
  return bell;
}

Bell::Bell() {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) fail("cardan_rclcpp: epoll_create1 — raise the limit of open files (ulimit -n)");
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWake;
  if (wake_ < 0 || ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0) {
    const int error = errno;
    if (wake_ >= 0) ::close(wake_);
    ::close(epoll_);
    errno = error;
    fail("cardan_rclcpp: eventfd — raise the limit of open files (ulimit -n)");
  }
  // Signals belong to rclcpp and the application: this thread must not get any.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::close(wake_);
    ::close(epoll_);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread_.native_handle(), "cardan_bell");
}

Bell::~Bell() {
  stop_.store(true, std::memory_order_release);
  static_cast<void>(::eventfd_write(wake_, 1));
  thread_.join();
  ::close(wake_);
  ::close(epoll_);
}

std::uint64_t Bell::add(int fd, std::shared_ptr<Ring> ring) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = ++last_;
  entries_.emplace(number, Entry{fd, std::move(ring)});
  epoll_event event{};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.u64 = number;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) {
    const int error = errno;
    entries_.erase(number);
    errno = error;
    fail("cardan_rclcpp: epoll_ctl");
  }
  return number;
}

void Bell::arm(std::uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(number);
  if (found == entries_.end()) return;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.u64 = number;
  static_cast<void>(::epoll_ctl(epoll_, EPOLL_CTL_MOD, found->second.fd, &event));
}

void Bell::ring_later(std::uint64_t number) noexcept {
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(number);
    if (found == entries_.end() || found->second.ring_at != 0) return;
    found->second.ring_at = now() + std::chrono::nanoseconds(kRetry).count();
    if (++later_ != 1) return;
  }
  static_cast<void>(::eventfd_write(wake_, 1));
}

void Bell::remove(std::uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(number);
  if (found == entries_.end()) return;
  static_cast<void>(::epoll_ctl(epoll_, EPOLL_CTL_DEL, found->second.fd, nullptr));
  if (found->second.ring_at != 0) --later_;
  entries_.erase(found);
}

std::shared_ptr<Ring> Bell::ring_of(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(number);
  return found == entries_.end() ? nullptr : found->second.ring;
}

int Bell::ring_those_of_later() {
  std::vector<std::shared_ptr<Ring>> due;
  bool some_left = false;
  {
    const std::lock_guard lock(mutex_);
    if (later_ == 0) return -1;
    for (auto& [number, entry] : entries_) {
      if (entry.ring_at == 0 || entry.ring_at > now()) continue;
      entry.ring_at = 0;
      --later_;
      due.push_back(entry.ring);
    }
    some_left = later_ != 0;
  }
  for (const auto& ring : due) ring->ring();
  return some_left ? static_cast<int>(kRetry.count()) : -1;
}

// Rings without the lock: what an executor does when it is rung may take locks of its own.
void Bell::run() noexcept {
  be_prompt();  // each hop to an executor begins here, and a busy CPU would let it wait for a time slice of others
  std::array<epoll_event, 32> events;
  while (!stop_.load(std::memory_order_acquire)) {
    const int timeout = ring_those_of_later();
    const int ready = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), timeout);
    for (int i = 0; i < ready; ++i) {
      const std::uint64_t number = events[static_cast<std::size_t>(i)].data.u64;
      if (number == kWake) {
        eventfd_t ignored = 0;
        static_cast<void>(::eventfd_read(wake_, &ignored));
      } else if (const std::shared_ptr<Ring> ring = ring_of(number)) {
        ring->ring();
      }
    }
  }
}

}  // namespace cardan::ros::detail
