// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "src/transport/protocol/order_table.hpp"

/// Hands a publication to a subscriber without a copy, a lock or a shared writable page.
///
///   publisher's pages                              subscriber's pages
///   latest  [ n : 48 | slot : 16 ]                 hold[]  [ c7 c6 c5 c4 c3 c2 c1 c0 ]  one byte a slot, eight a word
///   ring[k] [ n : 48 | slot : 16 ]  at n % depth   cursor  [ last n taken ]
///   meta[s].sequence [ n alive | 0 dead ]
///
/// Invariants:
///   I1 whole      I2 not refilled      I4 counted exactly      I5 a free slot      I7 given back
/// invariants.hpp has all invariants, docs/protocols/slot.md the reason for each step, order_table.hpp every access.
/// The same code runs in production (`Env = Native`) and under the memory-order checker (tests/checker).
namespace cardan::protocol {

inline constexpr std::uint32_t kSlotBits = 16;
inline constexpr std::uint32_t kMaxSlots = 2048;

struct Entry {
  std::uint64_t sequence;
  std::uint32_t slot;
};
constexpr std::uint64_t pack(Entry e) { return (e.sequence << kSlotBits) | e.slot; }
constexpr Entry unpack(std::uint64_t word) { return {word >> kSlotBits, static_cast<std::uint32_t>(word & 0xffffU)}; }

/// A view of the publisher's words. `Word64` is const on the subscriber's side.
template <class Env, class Word64>
struct RingView {
  Word64* latest;
  Word64* ring;
  Word64* first_sequence;       ///< meta[0].sequence
  std::size_t sequence_stride;  ///< bytes from meta[s] to meta[s + 1]
  std::uint32_t depth;
  std::uint32_t slots;

  Word64& sequence(std::uint32_t slot) const noexcept {
    using Byte = std::conditional_t<std::is_const_v<Word64>, const char, char>;
    return *reinterpret_cast<Word64*>(reinterpret_cast<Byte*>(first_sequence) + slot * sequence_stride);
  }
};
template <class Env>
using PublisherRing = RingView<Env, typename Env::template Word<std::uint64_t>>;
template <class Env>
using ReaderRing = RingView<Env, const typename Env::template Word<std::uint64_t>>;

/// Makes publication `e.sequence` in slot `e.slot` visible. Wait-free.
template <class Env>
void publish(const PublisherRing<Env>& ring, Entry e) noexcept {
  Env::template store<Site::W1>(ring.sequence(e.slot), e.sequence);
  Env::template store<Site::W2>(ring.ring[e.sequence % ring.depth], pack(e));
  Env::template store<Site::W3>(*ring.latest, pack(e));
}

/// Marks the slot as dead. After this call no subscriber can start to hold it. Wait-free.
template <class Env>
void mark_dead(const PublisherRing<Env>& ring, std::uint32_t slot) noexcept {
  Env::template store<Site::D1>(ring.sequence(slot), std::uint64_t{0});
}

/// Call it once between the last mark_dead() and the next fill of those slots. An observer holds nothing: without the
/// fence it could see bytes of the refill and still the old sequence. (For holders, D3 would suffice. On x86 the fence
/// costs no instruction.)
template <class Env>
void before_refill() noexcept {
  Env::template fence<Site::F1>();
}

/// Returns a word of eight hold counters of one subscriber, as the publisher sees it.
template <class Env>
std::uint64_t holds_of(const typename Env::template Word<std::uint64_t>* hold, std::uint32_t word) noexcept {
  return Env::template load<Site::D3>(hold[word]);
}

/// A slot's counter is one byte of a hold word. hold_word() returns the index of the word, one_hold() the value 1 in
/// the place of the byte. (A word has eight counters. The checker packs fewer, so that few slots need several words.)
template <class Env>
constexpr std::uint32_t hold_word(std::uint32_t slot) {
  return slot / Env::kSlotsPerHoldWord;
}
template <class Env>
constexpr std::uint64_t one_hold(std::uint32_t slot) {
  return std::uint64_t{1} << (8 * (slot % Env::kSlotsPerHoldWord));
}

/// Subscriber: holds the slot of publication `e`. Returns false, and holds nothing, if the slot no longer carries `e`.
template <class Env>
bool try_hold(const ReaderRing<Env>& ring, typename Env::template Word<std::uint64_t>* hold, Entry e) noexcept {
  // R2 is a full barrier on most machines. Request the slot's first two lines before it, so that both arrive while R2
  // waits.
  __builtin_prefetch(&ring.sequence(e.slot));
  __builtin_prefetch(reinterpret_cast<const char*>(&ring.sequence(e.slot)) + 64);
  Env::template add<Site::R2>(hold[hold_word<Env>(e.slot)], one_hold<Env>(e.slot));
  if (Env::template load<Site::R3>(ring.sequence(e.slot)) == e.sequence) return true;
  Env::template subtract<Site::R4>(hold[hold_word<Env>(e.slot)], one_hold<Env>(e.slot));
  return false;
}

/// Subscriber: ends one hold of the slot.
template <class Env>
void drop(typename Env::template Word<std::uint64_t>* hold, std::uint32_t slot) noexcept {
  Env::template subtract<Site::R5>(hold[hold_word<Env>(slot)], one_hold<Env>(slot));
}

enum class Outcome : std::uint8_t {
  Taken,
  Nothing,  ///< nothing newer than the cursor
  Corrupt,  ///< an honest publisher never leaves such words
};

struct Taken {
  Outcome outcome = Outcome::Nothing;
  Entry entry{};
  std::uint64_t missed = 0;  ///< publications between the last one taken and this one
};

/// One take() looks at this number of entries, plus eight times the window, before it returns Corrupt. Each entry costs
/// R2, R3 and R4, some 10 ns. Only a hostile publisher can keep a subscriber looking for that time.
inline constexpr std::uint64_t kMostLooks = 10'000;

/// Takes the oldest publication that is still valid among the last `depth` (1: the newest): holds its slot and counts
/// it as taken. Lock-free: the loop repeats only if the publisher, or another thread of this subscriber, has moved on.
template <class Env>
Taken take(const ReaderRing<Env>& ring, typename Env::template Word<std::uint64_t>* hold,
           typename Env::template Word<std::uint64_t>& cursor, std::uint32_t depth) noexcept {
  const std::uint64_t window = depth < ring.depth ? depth : ring.depth;
  const std::uint64_t most_looks = kMostLooks + 8 * window;
  std::uint64_t looks = 0;
  std::uint64_t newest_before = 0;
  int standing_still = 0;
  while (looks < most_looks) {
    const std::uint64_t last = Env::template load<Site::R7>(cursor);
    const Entry newest = unpack(Env::template load<Site::R1>(*ring.latest));
    if (newest.sequence <= last) return {};
    if (newest.sequence == newest_before && ++standing_still > 8) return {Outcome::Corrupt, {}, 0};
    newest_before = newest.sequence;

    std::uint64_t n = last + 1;
    if (newest.sequence >= window && n < newest.sequence - window + 1) n = newest.sequence - window + 1;
    for (; n <= newest.sequence; ++n, ++looks) {
      const Entry e = n == newest.sequence ? newest : unpack(Env::template load<Site::R1b>(ring.ring[n % ring.depth]));
      if (e.slot >= ring.slots || e.sequence < n) return {Outcome::Corrupt, {}, 0};
      if (e.sequence != n) continue;                // overwritten meanwhile: lost; the next may still be there
      if (!try_hold<Env>(ring, hold, e)) continue;  // reused meanwhile: lost too
      std::uint64_t expected = last;
      if (Env::template exchange_if<Site::R6>(cursor, expected, n)) return {Outcome::Taken, e, n - last - 1};
      Env::template subtract<Site::R4>(hold[hold_word<Env>(e.slot)], one_hold<Env>(e.slot));
      standing_still = 0;  // another thread of this subscriber moved the cursor
      newest_before = 0;
      ++looks;
      break;
    }
  }
  return {Outcome::Corrupt, {}, 0};
}

}  // namespace cardan::protocol
