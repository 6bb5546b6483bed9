// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cardan/detail/fd.hpp"
#include "cardan/detail/forked.hpp"

namespace cardan::detail {

/// While it lives, no fork() of this process takes place, and a descriptor that is opened and passed to bind()
/// meanwhile is closed in every child. For system calls that do not wait, not for callbacks; one at a time in a thread.
class MakingBound {
 public:
  MakingBound() noexcept;
  MakingBound(const MakingBound&) = delete;
  MakingBound& operator=(const MakingBound&) = delete;
  ~MakingBound();
  /// A negative number gives an empty Fd. If memory is exhausted, the descriptor is closed and the Fd is empty (errno
  /// ENOMEM).
  [[nodiscard]] Fd bind(int fd) noexcept;
};

/// The descriptor that `open` returns, bound from its first moment. errno is that of `open`.
template <class F>
Fd make_bound(F&& open) noexcept {
  MakingBound making;
  return making.bind(open());
}

/// A descriptor that represents this process: a connection, an area, a helper's epoll. It is closed in a child of
/// fork() (pthread_atfork). Otherwise peers would not see this process die, and memory would outlive it.
/// Not thread safe; takes a mutex briefly.
class BoundFd {
 public:
  BoundFd() noexcept = default;
  explicit BoundFd(int fd);
  explicit BoundFd(Fd&& fd);
  BoundFd(BoundFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  BoundFd& operator=(BoundFd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  BoundFd(const BoundFd&) = delete;
  BoundFd& operator=(const BoundFd&) = delete;
  ~BoundFd() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  void reset() noexcept;

 private:
  int fd_ = -1;
};

}  // namespace cardan::detail
