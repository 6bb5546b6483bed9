// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "src/transport/protocol/order_table.hpp"

/// A ring of events that one thread writes and an observer copies. The writer waits for no observer: it overwrites the
/// oldest event, and the observer counts that.
///
///   writer (event n)                         observer (knows all events before `next`)
///   T1 n := written                          T5 w := written?
///   T2 fence                                 T6 copies the events next … w − 1 that the ring still has
///   T3 words of slot n % events              T7 fence
///   T4 written := n + 1                      T8 w := written?   event w may be under way: only those after w − events
///                                               are whole, the others count as overwritten
///
/// Invariants:
///   I27 event whole      I28 overwritten counted
/// docs/protocols/trace.md has the reason for each step.
namespace cardan::protocol {

inline constexpr std::size_t kTraceWords = 4;  ///< of an event
/// An honest thread does not write as many events: 8,900 years at 1 kHz.
inline constexpr std::uint64_t kMostTraceEvents = std::uint64_t{1} << 48;

template <std::size_t kWords>
using EventWords = std::array<std::uint64_t, kWords>;

/// A view of a ring's words. `Word64` is const on the observer's side. The newest `events` − 1 events are kept.
template <class Env, class Word64>
struct TraceRingView {
  Word64* written = nullptr;
  Word64* words = nullptr;
  std::uint32_t events = 0;  ///< a power of two

  /// n % events, without a division.
  [[nodiscard]] constexpr std::uint64_t slot_of(std::uint64_t n) const noexcept { return n & (events - 1); }
};
template <class Env>
using TraceWriterRing = TraceRingView<Env, typename Env::template Word<std::uint64_t>>;
template <class Env>
using TraceReaderRing = TraceRingView<Env, const typename Env::template Word<std::uint64_t>>;

/// Wait-free. One thread at a time for each ring.
template <class Env, std::size_t kWords = kTraceWords>
void write_event(const TraceWriterRing<Env>& ring, const EventWords<kWords>& event) noexcept {
  const std::uint64_t n = Env::template load<Site::T1>(*ring.written);
  Env::template fence<Site::T2>();
  auto* const slot = ring.words + ring.slot_of(n) * kWords;
  for (std::size_t i = 0; i < kWords; ++i) Env::template store<Site::T3>(slot[i], event[i]);
  Env::template store<Site::T4>(*ring.written, n + 1);
}

struct TraceDrain {
  std::size_t count = 0;          ///< events that were copied whole
  std::uint64_t overwritten = 0;  ///< events before them that nobody can copy any more
  std::uint64_t next = 0;         ///< number of the first event that was not looked at
  bool corrupt = false;           ///< an honest thread never leaves such words; the rest is 0
};

/// The number of the oldest event that is whole for sure when `written` events have been written.
constexpr std::uint64_t oldest_whole_event(std::uint64_t written, std::uint32_t events) {
  return written < events ? 0 : written - events + 1;
}

/// Copies events from number `next` on, at most `into.size()`. Bounded: reads each word at most once.
template <class Env, std::size_t kWords = kTraceWords>
[[nodiscard]] TraceDrain drain_events(const TraceReaderRing<Env>& ring, std::uint64_t next,
                                      std::span<EventWords<kWords>> into) noexcept {
  const std::uint64_t written = Env::template load<Site::T5>(*ring.written);
  if (written < next || written > kMostTraceEvents) return {.corrupt = true};
  const std::uint64_t from = std::max(next, oldest_whole_event(written, ring.events));
  const std::uint64_t to = std::min<std::uint64_t>(written, from + into.size());
  for (std::uint64_t n = from; n < to; ++n) {
    const auto* const slot = ring.words + ring.slot_of(n) * kWords;
    for (std::size_t i = 0; i < kWords; ++i) into[n - from][i] = Env::template load<Site::T6>(slot[i]);
  }
  Env::template fence<Site::T7>();
  const std::uint64_t written_now = Env::template load<Site::T8>(*ring.written);
  if (written_now < written || written_now > kMostTraceEvents) return {.corrupt = true};
  const std::uint64_t whole = std::clamp(oldest_whole_event(written_now, ring.events), from, to);
  std::move(into.begin() + static_cast<std::ptrdiff_t>(whole - from),
            into.begin() + static_cast<std::ptrdiff_t>(to - from), into.begin());
  return {.count = static_cast<std::size_t>(to - whole), .overwritten = whole - next, .next = to};
}

}  // namespace cardan::protocol
