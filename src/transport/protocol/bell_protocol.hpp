// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "src/transport/protocol/order_table.hpp"
#include "src/transport/protocol/slot_protocol.hpp"

/// Lets a subscriber sleep without missing a publication (I10). Publisher and subscriber each write one word and then
/// read the other's word.
///
///   publisher                         subscriber
///   W3 latest := n                    B1 b := bell
///   W4 waiting?  ──────────────┐      B2 waiting += 1
///   W5 bell := bell + 1        │      B3 latest = my cursor?  (no: B4, take)
///      FUTEX_WAKE(bell)        └───▶     FUTEX_WAIT(bell, b)   sleeps only while bell = b
///                                     B4 waiting -= 1
/// Either W4 sees B2, or B3 sees W3 (all four accesses are sequentially consistent).
///
/// A subscriber that polls a descriptor does the same with other words (I23). The subscriber empties the descriptor,
/// then N1 armed += 1, then B3. The publisher does W3, then N2 armed?. If `armed` has changed since the publisher's
/// last token, the publisher sends one token. docs/protocols/bell.md explains each step.
namespace cardan::protocol {

/// Publisher: returns whether a thread of this subscriber sleeps or is about to. Call it after publish().
template <class Env>
bool somebody_waits(const typename Env::template Word<std::uint32_t>& waiting) noexcept {
  return Env::template load<Site::W4>(waiting) != 0;
}

/// Publisher: rings a bell. `wake` calls FUTEX_WAKE on the bell, which must come after the word has changed. Only the
/// publishing thread writes the bell.
template <class Env, class Wake>
void ring(typename Env::template Word<std::uint32_t>& bell, std::uint32_t& phase, Wake&& wake) noexcept {
  Env::template store<Site::W5>(bell, ++phase);
  wake();
}

/// Publisher, after publish(): looks at every subscriber once. `peers.look` is as in reclaim_protocol.hpp.
/// `peers.waits(handle)` rings for a subscriber that has a sleeping thread. `peers.looked(handle, page)` handles the
/// subscriber's descriptor.
template <class Env, class Table, class Peers>
void wake(const Table& table, Peers&& peers) noexcept {
  table.for_each([&](std::uint32_t i, auto handle) noexcept {
    peers.look(i, handle, [&](const auto& page) noexcept {
      if (somebody_waits<Env>(page.waiting)) peers.waits(handle);
      peers.looked(handle, page);
    });
  });
}

/// Publisher: returns whether the subscriber has emptied its descriptor since the last token. The publishing thread
/// keeps the last value seen in `rung`.
template <class Env>
bool wants_token(const typename Env::template Word<std::uint32_t>& armed, std::uint32_t& rung) noexcept {
  const std::uint32_t now = Env::template load<Site::N2>(armed);
  if (now == rung) return false;
  rung = now;
  return true;
}

/// Subscriber: asks for the next token, because the descriptor is empty. Look for something new only after this call.
template <class Env>
void arm(typename Env::template Word<std::uint32_t>& armed) noexcept {
  Env::template add<Site::N1>(armed, std::uint32_t{1});
}

/// Subscriber: returns the bell's phase. Read it before announce_wait().
template <class Env>
std::uint32_t read_bell(const typename Env::template Word<std::uint32_t>& bell) noexcept {
  return Env::template load<Site::B1>(bell);
}

/// Subscriber: announces that a thread is about to sleep.
template <class Env>
void announce_wait(typename Env::template Word<std::uint32_t>& waiting) noexcept {
  Env::template add<Site::B2>(waiting, std::uint32_t{1});
}

/// Subscriber: takes the last look before it sleeps. Returns whether there is a newer publication.
template <class Env>
bool something_new(const typename Env::template Word<std::uint64_t>& latest,
                   const typename Env::template Word<std::uint64_t>& cursor) noexcept {
  return unpack(Env::template load<Site::B3>(latest)).sequence > Env::template load<Site::R7>(cursor);
}

/// Subscriber: the thread is awake again. Call it once for each announce_wait().
template <class Env>
void end_wait(typename Env::template Word<std::uint32_t>& waiting) noexcept {
  Env::template subtract<Site::B4>(waiting, std::uint32_t{1});
}

/// Subscriber: returns whether a publisher fills a loan that it rang for (pre-wake). A bounded spin pays off then.
template <class Env>
bool is_filling(const typename Env::template Word<std::uint32_t>& filling) noexcept {
  return Env::template load<Site::L2>(filling) != 0;
}

}  // namespace cardan::protocol
