// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "cardan/base/duration.hpp"

namespace cardan {
namespace detail {
class BoundFd;
}

/// A periodic timer for wait_any(). It uses absolute deadlines of the steady clock and does not drift. The constructor
/// throws Error (Limit).
/// Thread safety: one thread at a time.
class Timer {
 public:
  explicit Timer(std::chrono::nanoseconds period);
  Timer(Timer&& other) noexcept;
  Timer& operator=(Timer&& other) noexcept;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer();

  /// Number of periods that have passed since the last call; 0: none. Never blocks; one system call.
  std::uint64_t expired() noexcept;
  [[nodiscard]] int fd() const noexcept;

 private:
  std::unique_ptr<detail::BoundFd> fd_;
};

}  // namespace cardan
