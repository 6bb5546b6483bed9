// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "src/base/bound_fd.hpp"

namespace cardan::detail {

/// An event loop on one thread: descriptors with handlers, a time-out, and work from other threads. Exceptions of
/// handlers and work are logged, and the loop continues.
/// Thread safety: post() and poke() on any thread, the rest on the loop's.
class Loop {
 public:
  using Handler = std::function<void()>;
  /// Throws Error (Limit).
  Loop();
  void on(int fd, Handler handler);
  void off(int fd);
  void post(std::function<void()> work);
  void poke() noexcept;
  [[nodiscard]] int poke_fd() const noexcept { return wake_.get(); }
  /// Handles everything that is ready, waiting at most `timeout_ms` (−1: forever).
  void turn(int timeout_ms);
  /// Runs work that a peer may have caused. All exceptions end here, because this thread serves all the others too.
  /// Returns false if it threw.
  static bool survives(const std::function<void()>& work) noexcept;

 private:
  BoundFd epoll_;
  BoundFd wake_;
  std::unordered_map<int, std::shared_ptr<Handler>> handlers_;
  std::mutex mutex_;
  std::vector<std::function<void()>> work_;
};

}  // namespace cardan::detail
