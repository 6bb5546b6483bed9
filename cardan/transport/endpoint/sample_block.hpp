// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "cardan/base/atomic.hpp"

namespace cardan::detail {

class SubscriberCore;
class Stream;

/// A sample as Sample<T> points to it: counted references to a message somewhere. A subscriber's lie in its pool; the
/// message's fixed struct follows them when it had to be copied out and checked. Others say by `release` how they end.
struct SampleBlock {
  Atomic<std::uint32_t> references{0};
  std::uint32_t slot = 0;
  SubscriberCore* owner = nullptr;
  Stream* stream = nullptr;
  const void* message = nullptr;
  const std::byte* payload = nullptr;
  std::uint64_t payload_bytes = 0;
  std::uint64_t sequence = 0;
  std::uint64_t missed = 0;
  std::int64_t publish_ns = 0;
  std::int64_t source_ns = 0;
  void (*release)(SampleBlock* block) noexcept = nullptr;  ///< null: a subscriber's
};

void give_back_taken(SampleBlock* block) noexcept;

/// Drops one reference. Any thread; never blocks.
inline void drop(SampleBlock* block) noexcept {
  if (block->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (block->release == nullptr)
    give_back_taken(block);
  else
    block->release(block);
}

}  // namespace cardan::detail
