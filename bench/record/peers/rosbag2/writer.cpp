// SPDX-License-Identifier: Apache-2.0
#include "bench/record/peers/rosbag2/writer.hpp"

#include <utility>

#include "bench/transport/clock.hpp"

namespace cardan::bench::rosbag2 {

Writer::Writer(const std::string& path, const std::vector<std::string>& topics, std::uint64_t cache_bytes)
    : bag_(path, topics), cache_(cache_bytes, topics.size()), consumer_([this] { consume(); }) {}

Writer::~Writer() {
  cache_.finish();
  if (consumer_.joinable()) consumer_.join();
}

void Writer::write(MessagePointer message) {
  const std::lock_guard lock(mutex_);
  cache_.push(std::move(message));
}

void Writer::consume() noexcept {
  try {
    for (;;) {
      const std::vector<MessagePointer>& messages = cache_.swap();
      if (messages.empty()) break;
      const std::int64_t before = now_ns();
      for (const MessagePointer& message : messages) bag_.write(*message);
      storing_ns_ += now_ns() - before;
      cache_.written();
    }
    const std::int64_t before = now_ns();
    bag_.close();
    storing_ns_ += now_ns() - before;
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void Writer::close() {
  cache_.finish();
  if (consumer_.joinable()) consumer_.join();
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

std::uint64_t Writer::dropped() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t n : cache_.dropped()) sum += n;
  return sum;
}

}  // namespace cardan::bench::rosbag2
