// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/transport/protocol/order_table.hpp"

/// How a reliable publish sleeps until a reader has moved on, and the reader wakes it only then:
///
///   publisher                              reader, after a take
///   P1 backpressure := 1                   R6 cursor := n
///   P2 p := progress                       P3 progress += 1
///   Q1 cursor ≥ needed?  (yes: go on)      P4 backpressure?  (0: go on)
///      FUTEX_WAIT(progress, p)                FUTEX_WAKE(progress)
/// Either Q1 sees R6, or P4 sees P1 and the wait finds `progress` changed or is woken (I15, I16).
namespace cardan::protocol {

/// Publisher: one round of the wait. True: the reader is at `needed` or beyond. Else sleep while `progress` is `seen`.
template <class Env>
bool has_arrived(typename Env::template Word<std::uint32_t>& backpressure,
                 const typename Env::template Word<std::uint32_t>& progress,
                 const typename Env::template Word<std::uint64_t>& cursor, std::uint64_t needed,
                 std::uint32_t& seen) noexcept {
  Env::template store<Site::P1>(backpressure, std::uint32_t{1});
  seen = Env::template load<Site::P2>(progress);
  return Env::template load<Site::Q1>(cursor) >= needed;
}

/// Reader, after its cursor moved: whether a publisher may sleep on `progress` and has to be woken.
template <class Env>
bool somebody_waits_for(typename Env::template Word<std::uint32_t>& progress,
                        const typename Env::template Word<std::uint32_t>& backpressure) noexcept {
  Env::template add<Site::P3>(progress, std::uint32_t{1});
  return Env::template load<Site::P4>(backpressure) != 0;
}

}  // namespace cardan::protocol
