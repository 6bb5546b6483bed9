// SPDX-License-Identifier: Apache-2.0
#include "src/base/bound_fd.hpp"

#include <pthread.h>

#include <cerrno>
#include <mutex>
#include <set>

#include "cardan/detail/atomic.hpp"
#include "cardan/error.hpp"

namespace cardan::detail {

constinit ProcessFlags process_flags;

namespace {

struct Registry {
  std::mutex mutex;
  std::set<int> fds;
};

Registry& registry() {
  static auto* const all = [] {
    auto* made = new Registry;  // never destroyed: descriptors may still go during exit
    ::pthread_atfork([] { registry().mutex.lock(); }, [] { registry().mutex.unlock(); },
                     [] {
                       for (const int fd : registry().fds) ::close(fd);
                       registry().fds.clear();
                       process_flags.forked_child.store(true, std::memory_order_relaxed);
                       registry().mutex.unlock();
                     });
    return made;
  }();
  return *all;
}

}  // namespace

MakingBound::MakingBound() noexcept { registry().mutex.lock(); }
MakingBound::~MakingBound() { registry().mutex.unlock(); }

Fd MakingBound::bind(int fd) noexcept {
  Fd bound(fd);
  if (fd < 0) return bound;
  try {
    registry().fds.insert(fd);
    bound.bound_ = true;
  } catch (...) {
    bound.reset();
    errno = ENOMEM;
  }
  return bound;
}

void close_bound(int fd) noexcept {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (all.fds.erase(fd) != 0) ::close(fd);  // in a forked child the number may belong to somebody else by now
}

void unbind(int fd) noexcept {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.fds.erase(fd);
}

BoundFd::BoundFd(int fd) : fd_(fd) {
  if (fd < 0) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.fds.insert(fd);
}

BoundFd::BoundFd(Fd&& fd) {
  if (fd.bound_) {
    fd_ = std::exchange(fd.fd_, -1);
    fd.bound_ = false;
  } else {
    *this = BoundFd(fd.release());
  }
}

void BoundFd::reset() noexcept {
  if (fd_ >= 0) close_bound(std::exchange(fd_, -1));
}

}  // namespace cardan::detail

void cardan::refuse_forked_child() {
  if (is_forked_child())
    throw Error(ErrorCode::Forked, "this is a child of fork(): its parent's endpoints and memory do not exist here",
                "call exec first, or start Cardan only after the fork");
}
