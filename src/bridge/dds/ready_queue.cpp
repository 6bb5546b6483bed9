// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/ready_queue.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include "cardan/error.hpp"

namespace cardan::bridge::dds {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

}  // namespace

ReadyQueue::ReadyQueue() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_)
    throw Error(ErrorCode::Limit, fmt::format("cannot make an epoll: {}", std::strerror(errno)),
                "raise ulimit -n of the bridge");
}

bool ReadyQueue::watch(Id id, int fd) noexcept {
  // Once: a topic that may not send yet is not asked again and again.
  epoll_event event{.events = EPOLLIN | EPOLLONESHOT, .data = {.u64 = static_cast<std::uint64_t>(id)}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) == 0) return true;
  return errno == ENOENT && ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void ReadyQueue::at(Id id, std::int64_t ns) {
  if (const auto known = times_.find(id); known != times_.end()) {
    if (known->second == ns) return;
    by_time_.erase({known->second, id});
    times_.erase(known);
  }
  if (ns == kNever) return;
  by_time_.emplace(ns, id);
  times_.emplace(id, ns);
}

void ReadyQueue::forget(Id id) {
  now_.erase(id);
  at(id, kNever);
}

std::vector<ReadyQueue::Id> ReadyQueue::take(std::int64_t now) {
  std::array<epoll_event, kReadableAtOnce> readable;
  const int count = ::epoll_wait(epoll_.get(), readable.data(), static_cast<int>(readable.size()), 0);
  for (int i = 0; i < count; ++i) now_.insert(static_cast<Id>(readable[static_cast<std::size_t>(i)].data.u64));
  while (!by_time_.empty() && by_time_.begin()->first <= now) {
    const Id id = by_time_.begin()->second;
    now_.insert(id);
    at(id, kNever);
  }
  std::vector<Id> all(now_.begin(), now_.end());
  now_.clear();
  return all;
}

std::int64_t ReadyQueue::next_ns() const noexcept { return by_time_.empty() ? kNever : by_time_.begin()->first; }

}  // namespace cardan::bridge::dds
