// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "bench/record/peers/rosbag2/message.hpp"

namespace cardan::bench::rosbag2 {

/// rosbag2's one queue for all topics, re-implemented from a description of it: two buffers, of which one is filled
/// while the other is written. A message is taken as long as the buffer held less than its limit before; after that
/// all messages of all topics are dropped, until the whole other buffer is written and the two change places. Source:
/// ros2/rosbag2, rosbag2_cpp, cache/message_cache and cache/message_cache_buffer (what they do, not how).
/// Thread safety: push() by any thread, the rest by one. push() takes a mutex, swap() waits.
class MessageCache {
 public:
  /// rosbag2's command line: 100 MiB, for each of the two buffers.
  static constexpr std::uint64_t kUsualBytes = std::uint64_t{100} << 20;

  explicit MessageCache(std::uint64_t limit_bytes, std::size_t topics) : limit_(limit_bytes), dropped_(topics) {}

  /// False: it was dropped, and counted.
  bool push(MessagePointer message);
  /// Waits for messages, or for finish(), and changes the buffers. The caller writes what it gets, then calls
  /// written(). Empty: finish() was called, and nothing is left.
  [[nodiscard]] const std::vector<MessagePointer>& swap();
  void written();
  /// No more messages come; swap() gives what is left.
  void finish();

  [[nodiscard]] std::vector<std::uint64_t> dropped() const;  ///< by topic

 private:
  std::uint64_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<MessagePointer> filling_, writing_;
  std::uint64_t filling_bytes_ = 0;
  std::vector<std::uint64_t> dropped_;
  bool full_ = false, finished_ = false;
};

}  // namespace cardan::bench::rosbag2
