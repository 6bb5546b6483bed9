// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "cardan/detail/atomic.hpp"
#include "cardan/detail/sample_block.hpp"
#include "src/runtime/executor/priority_mutex.hpp"

namespace cardan::detail {

/// The last `depth` samples of one output, kept for inputs of its own process that are declared later, as the transport
/// keeps them for other processes. Of a message they are the slots of the publisher's ring, which are not refilled
/// before they leave the last `depth` anyway: it costs no memory. The publishing thread publishes with the lock held,
/// so that an input that comes meanwhile is given each sample once. Any thread.
class LastSamples {
 public:
  explicit LastSamples(std::uint32_t depth)
      : depth_(std::max(1U, depth)), ring_(std::make_unique<SampleBlock*[]>(depth_)) {}
  LastSamples(const LastSamples&) = delete;
  LastSamples& operator=(const LastSamples&) = delete;
  ~LastSamples() { stop(); }

  /// The inputs that its output hands samples to, as bits of their places in the channel. Written by the channel's
  /// set-up; the publishing thread reads it.
  Atomic<std::uint64_t> readers{0};

  /// False: no input can join any more, nothing is kept and no lock is needed.
  [[nodiscard]] bool wanted() const noexcept { return wanted_.load(std::memory_order_relaxed); }
  [[nodiscard]] PriorityMutex& mutex() noexcept { return mutex_; }

  // With the lock.
  /// An input has joined, and may join again.
  void want() noexcept { wanted_.store(true, std::memory_order_relaxed); }
  /// Before a publication: the oldest, which is about to leave the last `depth`, is dropped, so that its slot can be
  /// refilled at once.
  void make_room() noexcept {
    if (count_ == depth_) drop(pop());
  }
  /// Adds its own reference.
  void add(SampleBlock& block) noexcept {
    if (!wanted()) return;  // since a moment ago
    make_room();
    block.references.fetch_add(1, std::memory_order_relaxed);
    ring_[(first_ + count_++) % depth_] = &block;
    ++added_;
  }
  [[nodiscard]] std::uint32_t size() const noexcept { return count_; }
  [[nodiscard]] std::uint32_t depth() const noexcept { return depth_; }
  /// How many it was given to keep so far.
  [[nodiscard]] std::uint64_t added() const noexcept { return added_; }
  /// `place` 0 is the oldest.
  [[nodiscard]] SampleBlock& at(std::uint32_t place) const noexcept { return *ring_[(first_ + place) % depth_]; }

  /// Keeps nothing until an input joins. Takes the lock.
  void stop() noexcept {
    const std::lock_guard lock(mutex_);
    wanted_.store(false, std::memory_order_relaxed);
    while (count_ > 0) drop(pop());
  }

 private:
  SampleBlock* pop() noexcept {
    SampleBlock* block = ring_[first_];
    first_ = (first_ + 1) % depth_;
    --count_;
    return block;
  }

  PriorityMutex mutex_;
  Atomic<bool> wanted_{true};
  std::uint32_t depth_, first_ = 0, count_ = 0;
  std::uint64_t added_ = 0;
  std::unique_ptr<SampleBlock*[]> ring_;
};

}  // namespace cardan::detail
