// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <utility>

namespace cardan {

namespace detail {
class BoundFd;
class MakingBound;
void close_bound(int fd) noexcept;  ///< bound_fd.hpp: closed in each child of fork()
void unbind(int fd) noexcept;       ///< from now on a child of fork() keeps it
}  // namespace detail

/// Owns one file descriptor. Not thread safe; never blocks.
class Fd {
 public:
  Fd() noexcept = default;
  explicit Fd(int fd) noexcept : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)), bound_(std::exchange(other.bound_, false)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
      bound_ = std::exchange(other.bound_, false);
    }
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept {
    if (std::exchange(bound_, false)) detail::unbind(fd_);
    return std::exchange(fd_, -1);
  }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  void reset() noexcept {
    if (fd_ < 0) return;
    if (std::exchange(bound_, false))
      detail::close_bound(std::exchange(fd_, -1));
    else
      ::close(std::exchange(fd_, -1));
  }

 private:
  friend class detail::BoundFd;
  friend class detail::MakingBound;
  int fd_ = -1;
  bool bound_ = false;  ///< a child of fork() has closed it
};

}  // namespace cardan
