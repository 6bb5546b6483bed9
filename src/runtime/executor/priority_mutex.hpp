// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

namespace cardan::detail {

/// A mutex whose owner runs at the priority of the most urgent thread that waits for it (PTHREAD_PRIO_INHERIT), so that
/// an ordinary publisher that holds it does not keep a real-time worker waiting for its next slice. For std::lock_guard
/// and std::unique_lock. Any thread; lock() blocks for as long as a few dozen instructions of another thread last.
class PriorityMutex {
 public:
  PriorityMutex() noexcept {
    pthread_mutexattr_t attributes;
    ::pthread_mutexattr_init(&attributes);
    ::pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    ::pthread_mutex_init(&mutex_, &attributes);
    ::pthread_mutexattr_destroy(&attributes);
  }
  PriorityMutex(const PriorityMutex&) = delete;
  PriorityMutex& operator=(const PriorityMutex&) = delete;
  ~PriorityMutex() { ::pthread_mutex_destroy(&mutex_); }

  void lock() noexcept { ::pthread_mutex_lock(&mutex_); }
  void unlock() noexcept { ::pthread_mutex_unlock(&mutex_); }
  bool try_lock() noexcept { return ::pthread_mutex_trylock(&mutex_) == 0; }

 private:
  pthread_mutex_t mutex_;
};

}  // namespace cardan::detail
