// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/loop.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "src/base/limiter.hpp"

namespace cardan::detail {

Loop::Loop()
    : epoll_(make_bound([] { return ::epoll_create1(EPOLL_CLOEXEC); })),
      wake_(make_bound([] { return ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); })) {
  if (!epoll_ || !wake_)
    throw Error(ErrorCode::Limit, fmt::format("cannot start the helper thread: {}", std::strerror(errno)),
                "raise ulimit -n");
  on(wake_.get(), [this] {
    eventfd_t ignored = 0;
    ::eventfd_read(wake_.get(), &ignored);
  });
}

bool Loop::survives(const std::function<void()>& work) noexcept {
  try {
    work();
    return true;
  } catch (const std::exception& e) {
    try {
      log(LogLevel::Error, Cause{"failed", ::geteuid()}, std::string("the helper thread continues after: ") + e.what());
    } catch (...) {  // not even memory for the log line
    }
  } catch (...) {  // it has no text
  }
  return false;
}

void Loop::on(int fd, Handler handler) {
  handlers_[fd] = std::make_shared<Handler>(std::move(handler));
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void Loop::off(int fd) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  handlers_.erase(fd);
}

void Loop::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
  }
  poke();
}

void Loop::poke() noexcept { ::eventfd_write(wake_.get(), 1); }

void Loop::turn(int timeout_ms) {
  std::array<epoll_event, 64> events;
  const int n = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  for (int i = 0; i < n; ++i) {
    const auto it = handlers_.find(events[static_cast<std::size_t>(i)].data.fd);
    if (it == handlers_.end()) continue;  // an earlier handler of this turn removed it
    const std::shared_ptr<Handler> handler = it->second;
    // The cause of the exception is still there. Without this pause, it would be a busy loop.
    if (!survives(*handler)) ::usleep(10'000);
  }
  std::vector<std::function<void()>> work;
  {
    const std::lock_guard lock(mutex_);
    work.swap(work_);
  }
  for (auto& w : work) survives(w);
}

}  // namespace cardan::detail
