// SPDX-License-Identifier: Apache-2.0
#include "bench/record/peers/rosbag2/message_cache.hpp"

#include <utility>

namespace cardan::bench::rosbag2 {

bool MessageCache::push(MessagePointer message) {
  {
    const std::lock_guard lock(mutex_);
    if (full_) {
      ++dropped_.at(message->topic);
      return false;
    }
    filling_bytes_ += message->bytes;
    full_ = filling_bytes_ >= limit_;
    filling_.push_back(std::move(message));
  }
  changed_.notify_one();
  return true;
}

const std::vector<MessagePointer>& MessageCache::swap() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return finished_ || !filling_.empty(); });
  std::swap(filling_, writing_);
  filling_bytes_ = 0;
  full_ = false;
  return writing_;
}

void MessageCache::written() { writing_.clear(); }

void MessageCache::finish() {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  changed_.notify_one();
}

std::vector<std::uint64_t> MessageCache::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

}  // namespace cardan::bench::rosbag2
