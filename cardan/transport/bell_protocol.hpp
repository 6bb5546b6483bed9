// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/transport/order_table.hpp"
#include "cardan/transport/slot_protocol.hpp"

/// How a reader sleeps and is never forgotten (I5): publisher and reader each write one word, then read the other's.
///
///   publisher                         reader
///   W3 latest := n                    B1 b := bell
///   W4 waiting?  ──────────────┐      B2 waiting += 1
///   W5 bell := bell + 1        │      B3 latest = my cursor?  (no: B4, take)
///      FUTEX_WAKE(bell)        └───▶     FUTEX_WAIT(bell, b)   sleeps only while bell = b
///                                     B4 waiting -= 1
/// Either W4 sees B2, or B3 sees W3 (both are sequentially consistent). Told in docs/protocols/bell.md.
namespace cardan::protocol {

/// Publisher: does somebody sleep? Call after publish().
template <class Env>
bool somebody_waits(const typename Env::template Word<std::uint32_t>& waiting) noexcept {
  return Env::template load<Site::W4>(waiting) != 0;
}

/// Publisher: what a FUTEX_WAKE must follow. Only the publishing thread writes the bell.
template <class Env>
void advance_bell(typename Env::template Word<std::uint32_t>& bell, std::uint32_t& phase) noexcept {
  Env::template store<Site::W5>(bell, ++phase);
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

}  // namespace cardan::protocol
