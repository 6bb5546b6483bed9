// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/transport/protocol/order_table.hpp"
#include "cardan/transport/protocol/slot_protocol.hpp"

/// How a reader sleeps and is never forgotten (I10): publisher and reader each write one word, then read the other's.
///
///   publisher                         reader
///   W3 latest := n                    B1 b := bell
///   W4 waiting?  ──────────────┐      B2 waiting += 1
///   W5 bell := bell + 1        │      B3 latest = my cursor?  (no: B4, take)
///      FUTEX_WAKE(bell)        └───▶     FUTEX_WAIT(bell, b)   sleeps only while bell = b
///                                     B4 waiting -= 1
/// Either W4 sees B2, or B3 sees W3 (both are sequentially consistent). A reader that polls a descriptor does the same
/// with other words (I23): it empties the descriptor, N1 armed += 1, B3; the publisher W3, N2 armed?, and if that has
/// changed since its last token, one token. The story is in docs/protocols/bell.md.
namespace cardan::protocol {

/// Publisher: does somebody sleep? Call after publish().
template <class Env>
bool somebody_waits(const typename Env::template Word<std::uint32_t>& waiting) noexcept {
  return Env::template load<Site::W4>(waiting) != 0;
}

/// Publisher: rings a bell. `wake` is FUTEX_WAKE on it, which must come after the word has changed. Only the publishing
/// thread writes the bell.
template <class Env, class Wake>
void ring(typename Env::template Word<std::uint32_t>& bell, std::uint32_t& phase, Wake&& wake) noexcept {
  Env::template store<Site::W5>(bell, ++phase);
  wake();
}

/// Publisher, after publish(): looks at every subscriber once. `peers.look` as in reclaim_protocol.hpp;
/// `peers.waits(handle)` rings for a subscriber of which a thread sleeps, `peers.looked(handle, page)` sees to its
/// descriptor.
template <class Env, class Table, class Peers>
void wake(const Table& table, Peers&& peers) noexcept {
  table.for_each([&](std::uint32_t i, auto handle) noexcept {
    peers.look(i, handle, [&](const auto& page) noexcept {
      if (somebody_waits<Env>(page.waiting)) peers.waits(handle);
      peers.looked(handle, page);
    });
  });
}

/// Publisher: whether the reader has emptied its descriptor since the last token. `rung` is the publishing thread's
/// note of it.
template <class Env>
bool wants_token(const typename Env::template Word<std::uint32_t>& armed, std::uint32_t& rung) noexcept {
  const std::uint32_t now = Env::template load<Site::N2>(armed);
  if (now == rung) return false;
  rung = now;
  return true;
}

/// Reader: the descriptor is empty and shall be rung again; look for something new after this.
template <class Env>
void arm(typename Env::template Word<std::uint32_t>& armed) noexcept {
  Env::template add<Site::N1>(armed, std::uint32_t{1});
}

/// Reader: the bell's phase, to be read before announcing.
template <class Env>
std::uint32_t read_bell(const typename Env::template Word<std::uint32_t>& bell) noexcept {
  return Env::template load<Site::B1>(bell);
}

/// Reader: says that it is about to sleep.
template <class Env>
void announce_wait(typename Env::template Word<std::uint32_t>& waiting) noexcept {
  Env::template add<Site::B2>(waiting, std::uint32_t{1});
}

/// Reader: the last look before sleeping.
template <class Env>
bool something_new(const typename Env::template Word<std::uint64_t>& latest,
                   const typename Env::template Word<std::uint64_t>& cursor) noexcept {
  return unpack(Env::template load<Site::B3>(latest)).sequence > Env::template load<Site::R7>(cursor);
}

/// Reader: awake again.
template <class Env>
void end_wait(typename Env::template Word<std::uint32_t>& waiting) noexcept {
  Env::template subtract<Site::B4>(waiting, std::uint32_t{1});
}

/// Reader: a publisher fills a loan that it rang for (pre-wake): worth a bounded spin.
template <class Env>
bool is_filling(const typename Env::template Word<std::uint32_t>& filling) noexcept {
  return Env::template load<Site::L2>(filling) != 0;
}

}  // namespace cardan::protocol
