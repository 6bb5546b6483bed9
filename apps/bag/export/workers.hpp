// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <utility>

namespace cardan::apps {

/// Work that other threads do, and whose results are used by this one in the order in which it was given. Not to be
/// shared by threads; blocks while as much is under way as is allowed.
class Workers {
 public:
  /// The rest, which runs here after the work; may be empty.
  using Then = std::function<void()>;

  /// `most`: pieces under way at a time; each keeps what it works on in memory.
  explicit Workers(std::size_t most) : most_(std::max<std::size_t>(most, 1)) {}

  /// Throws what earlier work threw. Work that takes as long as a picture's compression: each piece starts a thread.
  void give(std::function<Then()> work) {
    while (running_.size() >= most_) finish_first();
    running_.push_back(std::async(std::launch::async, std::move(work)));
  }

  /// Until nothing is under way. Throws what the work threw.
  void drain() {
    while (!running_.empty()) finish_first();
  }

 private:
  void finish_first() {
    std::future<Then> first = std::move(running_.front());
    running_.pop_front();
    if (const Then then = first.get()) then();
  }

  std::size_t most_;
  std::deque<std::future<Then>> running_;
};

}  // namespace cardan::apps
