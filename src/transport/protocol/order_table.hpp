// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "cardan/detail/atomic.hpp"

/// Lists every atomic access of the slot, bell, trace and sides protocols once: its name, its effect, its order, its
/// partner and the invariant that falls without it (invariants.hpp, docs/protocols/). The protocol code names its
/// accesses only by these sites. The memory-order checker can therefore weaken each access in turn and see the
/// invariant fall. The table in the documents is generated from this list.
///   X(site, access, order, partner, invariant)
// clang-format off
#define CARDAN_ORDER_TABLE(X) \
  X(W1, "meta[s].sequence := n (alive)", relaxed, "W3 carries it", "I1 whole") \
  X(W2, "ring[n % depth] := (n, s)", relaxed, "R1b; W3 carries it", "I1 whole") \
  X(W3, "latest := (n, s)", seq_cst, "R1, B3", "I1 whole; I10 woken") \
  X(W4, "waiting?", seq_cst, "B2", "I10 woken") \
  X(W5, "bell := bell + 1", release, "B1", "I10 woken") \
  X(R1, "latest?", acquire, "W3", "I1 whole") \
  X(R1b, "ring[n % depth]?", relaxed, "W2; R1 was read first", "I1 whole") \
  X(R2, "hold[s] += 1", seq_cst, "D3", "I2 not refilled") \
  X(R3, "meta[s].sequence = n?", seq_cst, "D1", "I2 not refilled") \
  X(R4, "hold[s] -= 1 (undo)", relaxed, "D3", "I7 given back") \
  X(R5, "hold[s] -= 1 (drop)", release, "D3", "I2 not refilled") \
  X(R6, "cursor: old → n", relaxed, "Q1", "I4 counted exactly") \
  X(R7, "cursor?", relaxed, "R6", "I4 counted exactly") \
  X(D1, "meta[s].sequence := 0 (dead)", seq_cst, "R3", "I2 not refilled; I21 no false liar") \
  X(D2, "table[i]?", seq_cst, "A1", "I2 not refilled") \
  X(D3, "hold[s]?", seq_cst, "R2, R5", "I2 not refilled; I21 no false liar") \
  X(A1, "table[i] := subscriber, before the answer", seq_cst, "D2", "I2 not refilled") \
  X(Q1, "cursor of a reliable subscriber?", relaxed, "R6", "I15 reliable") \
  X(B1, "bell?", acquire, "W5", "I10 woken") \
  X(B2, "waiting += 1", seq_cst, "W4", "I10 woken") \
  X(B3, "latest? (before sleeping)", seq_cst, "W3", "I10 woken") \
  X(B4, "waiting -= 1", relaxed, "W4", "I14 idle is free (a late one costs one needless wake)") \
  X(L1, "filling := n + 1 or 0", relaxed, "L2", "I11 spin bounded (a stale one costs a bounded spin)") \
  X(L2, "filling?", relaxed, "L1", "I11 spin bounded (a stale one costs a bounded spin)") \
  X(O1, "meta[s].sequence? (before copying)", relaxed, "W1", "I9 observed whole (saves a copy in vain; O3 decides)") \
  X(O2, "payload word (copy)", relaxed, "the fill", "I9 observed whole") \
  X(O3, "meta[s].sequence? (after copying and F2)", relaxed, "D1", "I9 observed whole") \
  X(F1, "fence between D1 and the refill", release, "F2, R3", "I9 observed whole; I8 lock-free") \
  X(F2, "fence between O2 and O3", acquire, "F1", "I9 observed whole") \
  X(A2, "table_end := i + 1, before A1", seq_cst, "D4", "I2 not refilled; I10 woken") \
  X(D4, "table_end?", seq_cst, "A2", "I2 not refilled; I10 woken") \
  X(E1, "epoch += 1 (odd: inside)", seq_cst, "E3", "I6 not unmapped") \
  X(E2, "epoch := even (outside)", release, "E3", "I6 not unmapped") \
  X(E3, "epoch? (after the table's entry is cleared)", seq_cst, "E1, E2", "I6 not unmapped") \
  X(E4, "epoch := odd, instead of E1 where E3 has an expedited barrier before it", release, "E3", "I6 not unmapped") \
  X(G1, "state[s] := returned (an abandoned loan, a new slot)", release, "G2", "I1 whole") \
  X(G2, "state[s]?", acquire, "G1", "I1 whole") \
  X(G3, "state[s] := … (publishing thread)", relaxed, "G2 (same thread)", "I1 whole") \
  X(P1, "backpressure := 1 (a reliable publish waits)", seq_cst, "P4", "I15 reliable; I16 fair demotion") \
  X(P2, "progress? (what it sleeps on)", seq_cst, "P3", "I16 fair demotion") \
  X(P3, "progress += 1 (after R6)", seq_cst, "P2", "I16 fair demotion") \
  X(P4, "backpressure?", seq_cst, "P1", "I16 fair demotion") \
  X(N1, "armed += 1 (the descriptor is empty)", seq_cst, "N2", "I23 descriptor rung") \
  X(N2, "armed? (after W3)", seq_cst, "N1", "I23 descriptor rung") \
  X(V1, "event_seq += 1 (something for all waiters)", seq_cst, "V3, V5", "I13 event heard") \
  X(V2, "sleepers of the old parity?", seq_cst, "V4, V6", "I13 event heard") \
  X(V3, "event_seq? (before announcing)", relaxed, "V5 decides", "I13 event heard") \
  X(V4, "sleepers of this parity += 1", seq_cst, "V2", "I13 event heard") \
  X(V5, "event_seq? (after announcing)", seq_cst, "V1", "I13 event heard") \
  X(V6, "sleepers of this parity -= 1", relaxed, "V2", "I13 event heard") \
  X(T1, "written? (the only thread that writes it)", relaxed, "T4 (same thread)", "I27 event whole") \
  X(T2, "fence between T4 of the last event and T3", release, "T7", "I27 event whole") \
  X(T3, "word of slot n % events := …", relaxed, "T6; T4 carries it", "I27 event whole") \
  X(T4, "written := n + 1", release, "T5", "I27 event whole; I28 overwritten counted") \
  X(T5, "written? (before copying)", acquire, "T4", "I27 event whole") \
  X(T6, "word of slot n % events? (copy)", relaxed, "T3", "I27 event whole") \
  X(T7, "fence between T6 and T8", acquire, "T2", "I27 event whole") \
  X(T8, "written? (after copying and T7)", relaxed, "T4", "I27 event whole; I28 overwritten counted") \
  X(S1, "version?", relaxed, "S8", "I31 sides apart (a stale one counts in the other word; the writer waits for both)") \
  X(S2, "inside[version] += 1", seq_cst, "S7", "I31 sides apart") \
  X(S3, "shown? (after S2)", seq_cst, "S6", "I31 sides apart; I32 change seen") \
  X(S4, "inside[version] -= 1", release, "S7", "I31 sides apart") \
  X(S5, "shown?, version? (the only thread that writes them)", relaxed, "S6, S8 (same thread)", "I31 sides apart") \
  X(S6, "shown := the side that was changed", seq_cst, "S3", "I31 sides apart; I32 change seen") \
  X(S7, "inside[…]? (until it is 0)", seq_cst, "S2, S4", "I31 sides apart") \
  X(S8, "version := the other one", relaxed, "S1", "I31 sides apart (later ones count elsewhere, so that S7 ends)")
// clang-format on

namespace cardan {

enum class Site : std::uint8_t {
#define CARDAN_SITE(site, access, order, partner, invariant) site,
  CARDAN_ORDER_TABLE(CARDAN_SITE)
#undef CARDAN_SITE
};

struct SiteInfo {
  const char* name;
  const char* access;
  std::memory_order order;
  const char* partner;
  const char* invariant;
};

inline constexpr SiteInfo kSites[] = {
#define CARDAN_SITE(site, access, order, partner, invariant) \
  {#site, access, std::memory_order_##order, partner, invariant},
    CARDAN_ORDER_TABLE(CARDAN_SITE)
#undef CARDAN_SITE
};

constexpr std::memory_order order_of(Site site) { return kSites[static_cast<std::size_t>(site)].order; }

/// The production environment of the protocols: std::atomic with the orders of the table, resolved at compile time.
struct Native {
  template <class T>
  using Word = Atomic<T>;
  static constexpr std::uint32_t kSlotsPerHoldWord = 8;

  template <Site S, class T>
  static T load(const Word<T>& word) noexcept {
    return word.load(order_of(S));
  }
  template <Site S, class T>
  static void store(Word<T>& word, T value) noexcept {
    word.store(value, order_of(S));
  }
  template <Site S, class T>
  static T add(Word<T>& word, T value) noexcept {
    return word.fetch_add(value, order_of(S));
  }
  template <Site S, class T>
  static T subtract(Word<T>& word, T value) noexcept {
    return word.fetch_sub(value, order_of(S));
  }
  template <Site S, class T>
  static bool exchange_if(Word<T>& word, T& expected, T desired) noexcept {
    return word.compare_exchange_strong(expected, desired, order_of(S), std::memory_order_relaxed);
  }
  /// Keeps the compiler from moving accesses across this call. The processor may still move them.
  static void compiler_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
  template <Site S>
  static void fence() noexcept {
    std::atomic_thread_fence(order_of(S));
  }
};

}  // namespace cardan
