// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "src/transport/protocol/slot_protocol.hpp"

/// Returns slots to the publisher (drawing and proofs: docs/protocols/slot.md).
///
///            loan               publish n             n leaves the last depth            no counter left
///   free ─────────────▶ loaned ─────────────▶ published ───────────────────▶ aside (dead) ───────────────▶ free
///     ▲                   │                                      D1                        D2, D3
///     └──── returned ◀────┘ abandoned, by any thread (G1, G2)
///
/// A subscriber that has counters on more dead slots than it announced is a liar (I21). If the publisher lacks a slot
/// because of a liar, it closes the liar's connection and clears the liar's entry. Until then the liar's holds count
/// like all others (I22).
namespace cardan::protocol {

enum class SlotState : std::uint8_t { Uncommitted, Returned, Free, Loaned, Published, Aside };

/// The state of each slot. The publishing thread writes it, except that give_back() runs on other threads too:
/// abandon() returns a loan, and the helper thread returns new slots.
template <class Env>
class SlotStates {
 public:
  void make(std::uint32_t slots) { words_ = std::make_unique<Word[]>(slots); }
  [[nodiscard]] const void* first() const noexcept { return words_.get(); }
  [[nodiscard]] SlotState load(std::uint32_t slot) const noexcept { return Env::template load<Site::G2>(words_[slot]); }
  /// Publishing thread only.
  void store(std::uint32_t slot, SlotState state) noexcept { Env::template store<Site::G3>(words_[slot], state); }
  /// Any thread: returns the slot. All accesses of that thread to the slot happen before the slot becomes free.
  void give_back(std::uint32_t slot) noexcept { Env::template store<Site::G1>(words_[slot], SlotState::Returned); }

 protected:
  using Word = typename Env::template Word<SlotState>;
  std::unique_ptr<Word[]> words_;
};

/// The publishing thread's slots. Wait-free.
///
/// `Peers` reports what the publisher's process knows about a subscriber:
///   look(index, handle, f)   calls f(page); `page.hold` contains the subscriber's hold words
///   announced(handle)        returns how many slots the subscriber may count at once: holds + threads
///   kept(slot)               returns whether this process itself keeps the slot
///   cut_off(handle)          closes the connection of a liar; returns false if the liar has none
template <class Env, class States = SlotStates<Env>>
class SlotPool {
 public:
  void make(std::uint32_t slots) {
    states.make(slots);
    published_as_ = std::make_unique<std::uint64_t[]>(slots);
    free_ = std::make_unique<std::uint16_t[]>(slots);
  }

  /// Loans a free slot and returns it; −1: no slot is free. `warmest`: the slot that was published last; otherwise any.
  int loan(bool warmest) noexcept {
    if (free_count == 0) return -1;
    std::uint32_t best = free_count - 1;
    if (warmest)
      for (std::uint32_t i = 0; i < free_count; ++i)
        if (published_as_[free_[i]] > published_as_[free_[best]]) best = i;
    const int slot = free_[best];
    free_[best] = free_[--free_count];
    states.store(static_cast<std::uint32_t>(slot), SlotState::Loaned);
    return slot;
  }
  /// Records that the slot was published as number `sequence`.
  void published(std::uint32_t slot, std::uint64_t sequence) noexcept {
    published_as_[slot] = sequence;
    states.store(slot, SlotState::Published);
  }
  /// Returns the start of each array.
  [[nodiscard]] std::array<const void*, 3> arrays() const noexcept {
    return {states.first(), published_as_.get(), free_.get()};
  }
  /// Returns the slot that loan() is most likely to give next; −1: no slot is free.
  [[nodiscard]] int next() const noexcept { return free_count == 0 ? -1 : free_[free_count - 1]; }

  /// Frees those of the first `committed` slots that nobody holds. `newest` is the last publication. The slots suffice
  /// for everything that subscribers announced: if no slot is free after the first pass, a second pass looks for liars.
  /// Returns how many slots stay aside.
  template <class Table, class Peers>
  std::uint32_t reclaim(const PublisherRing<Env>& ring, Table& table, std::uint32_t committed, std::uint64_t newest,
                        Peers&& peers) noexcept {
    HoldWords aside;  // byte 0xff for each slot that is aside
    const std::uint32_t words = hold_word<Env>(committed - 1) + 1;
    for (std::uint32_t w = 0; w < words; ++w) aside[w] = 0;
    bool any_aside = false;
    for (std::uint32_t s = 0; s < committed; ++s) {
      const SlotState state = states.load(s);
      if (state == SlotState::Returned) {  // not published since it was free: nobody can hold it
        free(s);
        continue;
      }
      if (state == SlotState::Published && newest - published_as_[s] >= ring.depth) {
        mark_dead<Env>(ring, s);
        states.store(s, SlotState::Aside);
      } else if (state != SlotState::Aside) {
        continue;
      }
      aside[hold_word<Env>(s)] |= one_hold<Env>(s) * 0xff;
      any_aside = true;
    }
    if (!any_aside) return 0;
    before_refill<Env>();
    const std::uint32_t left = free_unheld<false>(table, aside, committed, peers);
    return free_count != 0 ? left : free_unheld<true>(table, aside, committed, peers);
  }

  States states;
  std::uint32_t free_count = 0;

 private:
  using HoldWords = std::array<std::uint64_t, kMaxSlots / Env::kSlotsPerHoldWord>;

  void free(std::uint32_t slot) noexcept {
    states.store(slot, SlotState::Free);
    free_[free_count++] = static_cast<std::uint16_t>(slot);
  }

  /// Frees the slots of `aside` that nobody holds, and removes them from `aside`. Returns how many stay.
  ///
  /// `kJudge`: also expels each subscriber that shows holds on more of these slots than it announced. The same reads
  /// free slots and convict liars. If no slot is free after them, a subscriber has shown too many holds, however fast a
  /// liar changes its words (I5).
  template <bool kJudge, class Table, class Peers>
  std::uint32_t free_unheld(Table& table, HoldWords& aside, std::uint32_t committed, Peers&& peers) noexcept {
    HoldWords held;
    const std::uint32_t words = hold_word<Env>(committed - 1) + 1;
    for (std::uint32_t w = 0; w < words; ++w) held[w] = 0;
    table.for_each([&](std::uint32_t i, auto handle) noexcept {
      peers.look(i, handle, [&](const auto& page) noexcept {
        if constexpr (kJudge) {
          HoldWords shown;
          for (std::uint32_t w = 0; w < words; ++w)
            shown[w] = aside[w] != 0 ? holds_of<Env>(&page.hold[0], w) & aside[w] : 0;
          if (slots_in(shown, words) > peers.announced(handle) && peers.cut_off(handle)) return table.expel(i);
          for (std::uint32_t w = 0; w < words; ++w) held[w] |= shown[w];
        } else {
          for (std::uint32_t w = 0; w < words; ++w)
            if (aside[w] != 0) held[w] |= holds_of<Env>(&page.hold[0], w);
        }
      });
    });
    std::uint32_t left = 0;
    for (std::uint32_t s = 0; s < committed; ++s) {
      const std::uint32_t w = hold_word<Env>(s);
      const std::uint64_t byte = one_hold<Env>(s) * 0xff;
      if ((aside[w] & byte) == 0) continue;
      if ((held[w] & byte) != 0 || peers.kept(s)) {
        ++left;
        continue;
      }
      aside[w] &= ~byte;
      free(s);
    }
    return left;
  }

  /// Returns how many slots one subscriber counts on. Pass dead slots only.
  ///
  /// A subscriber cannot start to hold a dead slot: it held the slot before. In addition, each of its threads counts on
  /// at most one dead slot in passing, whose entry the thread had read before (R2, then R4). An honest subscriber thus
  /// never shows more than it announced, although its words are read one after the other while they change (I21). This
  /// does not hold for living slots: a subscriber that moves on may show the old slot in one word and the new slot in
  /// the next.
  static std::uint32_t slots_in(const HoldWords& shown, std::uint32_t words) noexcept {
    std::uint32_t count = 0;
    for (std::uint32_t w = 0; w < words; ++w)
      for (std::uint32_t b = 0; b < Env::kSlotsPerHoldWord; ++b) count += (shown[w] >> (8 * b) & 0xff) != 0 ? 1U : 0U;
    return count;
  }

  std::unique_ptr<std::uint64_t[]> published_as_;  ///< slot → number of its last publication
  std::unique_ptr<std::uint16_t[]> free_;
};

}  // namespace cardan::protocol
