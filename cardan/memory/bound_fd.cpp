// SPDX-License-Identifier: Apache-2.0
#include "cardan/memory/bound_fd.hpp"

#include <pthread.h>

#include <mutex>
#include <set>

#include "cardan/memory/atomic.hpp"
#include "cardan/memory/error.hpp"

namespace cardan {

Atomic<bool> detail::forked_child{false};

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
                       detail::forked_child.store(true, std::memory_order_relaxed);
                       registry().mutex.unlock();
                     });
    return made;
  }();
  return *all;
}

}  // namespace

BoundFd::BoundFd(int fd) : fd_(fd) {
  if (fd < 0) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.fds.insert(fd);
}

void BoundFd::reset() noexcept {
  if (fd_ < 0) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (all.fds.erase(fd_) != 0) ::close(fd_);  // in a forked child the number may belong to somebody else by now
  fd_ = -1;
}

void refuse_forked_child() {
  if (is_forked_child())
    throw Error(ErrorCode::Forked, "this is a child of fork(): its parent's endpoints and memory do not exist here",
                "call exec first, or start Cardan only after the fork");
}

}  // namespace cardan
