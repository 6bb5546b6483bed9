// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "cardan/detail/sample_block.hpp"

namespace cardan::detail {

/// Samples of its own slots that a publishing process keeps, so that its components read where they wrote: one block
/// for each slot. The publishing thread takes a block into use; the thread that drops the last reference returns it.
///
///   kept[s]   0 ── keep(): publishing thread ──▶ 1 ── release(): any thread ──▶ 0
///
/// I19 A slot whose block is in use is not refilled: the publishing thread ensures it itself, before it can reclaim.
/// I20 What the subscribers did with the slot happened before it is refilled: `kept` is stored with release after
///     the last of them, and loaded with acquire by reclaim().
class OwnSamples {
 public:
  void make(std::size_t slots) {
    if (!blocks_) blocks_ = std::make_unique<Block[]>(slots);
  }
  [[nodiscard]] bool made() const noexcept { return blocks_ != nullptr; }
  [[nodiscard]] bool kept(std::size_t slot) const noexcept {
    return blocks_ && blocks_[slot].kept.load(std::memory_order_acquire);
  }
  /// Keeps the publisher too, until the sample is dropped.
  OwnBlock& keep(std::size_t slot, std::shared_ptr<const void> publisher) noexcept {
    Block& b = blocks_[slot];
    b.publisher = std::move(publisher);
    b.release = &release;
    b.kept.store(true, std::memory_order_relaxed);
    b.references.store(1, std::memory_order_release);
    return b;
  }

 private:
  struct Block : OwnBlock {
    Atomic<bool> kept{false};
    std::shared_ptr<const void> publisher;
  };
  static void release(SampleBlock* block) noexcept {
    auto* b = static_cast<Block*>(block);
    const auto last = std::move(b->publisher);  // is released after the block, which it may own
    b->kept.store(false, std::memory_order_release);
  }
  std::unique_ptr<Block[]> blocks_;
};

}  // namespace cardan::detail
