// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "src/transport/protocol/order_table.hpp"

/// Lets a reliable publish sleep until a subscriber has moved on. The subscriber makes a system call only while a
/// publisher waits:
///
///   publisher                              subscriber, after a take
///   P1 backpressure := 1                   R6 cursor := n
///   P2 p := progress                       P3 progress += 1
///   Q1 cursor ≥ needed?  (yes: done)       P4 backpressure?  (0: done)
///      FUTEX_WAIT(progress, p)                FUTEX_WAKE(progress)
/// Either Q1 sees R6, or P4 sees P1 and the wait finds `progress` changed or is woken (I15, I16).
namespace cardan::protocol {

/// Publisher: runs one round of the wait. Returns true if the subscriber is at `needed` or beyond. Otherwise sleep
/// while `progress` equals `seen`.
template <class Env>
bool has_arrived(typename Env::template Word<std::uint32_t>& backpressure,
                 const typename Env::template Word<std::uint32_t>& progress,
                 const typename Env::template Word<std::uint64_t>& cursor, std::uint64_t needed,
                 std::uint32_t& seen) noexcept {
  Env::template store<Site::P1>(backpressure, std::uint32_t{1});
  seen = Env::template load<Site::P2>(progress);
  return Env::template load<Site::Q1>(cursor) >= needed;
}

/// Subscriber, after its cursor moved: returns whether a publisher may sleep on `progress` and must be woken.
template <class Env>
bool somebody_waits_for(typename Env::template Word<std::uint32_t>& progress,
                        const typename Env::template Word<std::uint32_t>& backpressure) noexcept {
  Env::template add<Site::P3>(progress, std::uint32_t{1});
  return Env::template load<Site::P4>(backpressure) != 0;
}

}  // namespace cardan::protocol
