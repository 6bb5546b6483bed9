// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "src/base/warm.hpp"
#include "src/transport/endpoint/own_area.hpp"
#include "src/transport/endpoint/own_samples.hpp"
#include "src/transport/endpoint/publisher_table.hpp"
#include "src/transport/protocol/reclaim_protocol.hpp"

namespace cardan::detail {

/// Which of a publisher's slots are free, loaned, published, or kept by this process (reclaim_protocol.hpp). There are
/// enough for what was announced (I5).
/// Thread safety: the publishing thread, unless a function says otherwise.
class OwnSlots {
 public:
  /// Gives memory to the slots that the publisher needs by itself. Throws Error (NoMemory).
  OwnSlots(const OwnArea& area, const PublisherContract& contract);

  /// A slot to fill, or −1. Call it inside (PublisherTable::enter), as published(). Wait-free.
  int loan(const SlotPlaces& at, PublisherTable& table, std::uint64_t newest) noexcept {
    if (pool_.free_count == 0) reclaim(at, table, newest);
    const int slot = pool_.loan(reuse_warm_);
    if (slot >= 0) ++taken_;
    return slot;
  }
  /// The loaned slot now carries publication `n`. Finds the next free slots.
  void published(const SlotPlaces& at, PublisherTable& table, std::uint32_t slot, std::uint64_t n) noexcept {
    pool_.published(slot, n);
    --taken_;
    if (pool_.free_count == 0 || reuse_warm_) reclaim(at, table, n);
    if (const int next = pool_.next(); next >= 0) {  // its lines come back to this core while no one waits
      const std::byte* record = at.record(static_cast<std::uint32_t>(next));
      __builtin_prefetch(record, 1);
      __builtin_prefetch(record + layout::kLine, 1);
    }
  }
  [[nodiscard]] bool all_are_out() const noexcept {
    return taken_ - returned_.load(std::memory_order_acquire) >= loans_ || closed();
  }
  /// Any thread: the loaned slot comes back unpublished.
  void abandon(std::uint32_t slot) noexcept {
    pool_.states.give_back(slot);
    returned_.fetch_add(1, std::memory_order_release);
  }
  /// Any thread: no slot is loaned from now on.
  void close() noexcept { closed_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_relaxed); }
  [[nodiscard]] OwnSamples& own() noexcept { return own_; }

  /// Makes room for `count` more samples that subscribers or this process hold. Throws Error (NoMemory, Limit). This
  /// and release(): one thread at a time.
  void reserve(const OwnArea& area, std::uint32_t count);
  /// `count` of them are not held any more. Their memory stays for later ones.
  void release(std::uint32_t count) noexcept { reserved_ -= std::min(reserved_, count); }

  void describe_lines(WarmSet& lines) const noexcept {
    for (const void* first : pool_.arrays()) lines.add(first);
  }

 private:
  struct Peers;
  void reclaim(const SlotPlaces& at, PublisherTable& table, std::uint64_t newest) noexcept;
  void commit(const OwnArea& area, std::uint32_t count);

  std::uint32_t taken_ = 0;             ///< taken and not published; wraps together with returned_
  Atomic<std::uint32_t> returned_{0};   ///< dropped unpublished, by any thread
  Atomic<std::uint32_t> committed_{0};  ///< slots that have memory
  std::uint32_t loans_;
  Atomic<bool> closed_{false};
  bool reuse_warm_;
  protocol::SlotPool<Native> pool_;
  OwnSamples own_;
  std::uint32_t fewest_;
  std::uint32_t reserved_ = 0;  ///< for others, in addition to `fewest_`
};

}  // namespace cardan::detail
