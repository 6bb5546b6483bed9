// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <queue>
#include <utility>

#include "bench/record/peers/rosbag2/message.hpp"

namespace cardan::bench::rosbag2 {

/// The queue between a producer and the recorder in rosbag2_performance_benchmarking's `no_transport` mode,
/// re-implemented: one that holds more than ten takes no more. Any thread; takes a mutex.
class MessageQueue {
 public:
  static constexpr std::size_t kMostWaiting = 10;

  bool push(MessagePointer message) {
    const std::lock_guard lock(mutex_);
    if (queue_.size() > kMostWaiting) {
      ++dropped_;
      return false;
    }
    queue_.push(std::move(message));
    return true;
  }
  /// nullptr: it is empty.
  [[nodiscard]] MessagePointer pop() {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) return nullptr;
    MessagePointer first = std::move(queue_.front());
    queue_.pop();
    return first;
  }
  [[nodiscard]] std::uint64_t dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
  }

 private:
  mutable std::mutex mutex_;
  std::queue<MessagePointer> queue_;
  std::uint64_t dropped_ = 0;
};

}  // namespace cardan::bench::rosbag2
