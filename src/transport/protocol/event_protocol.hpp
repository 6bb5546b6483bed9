// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "src/transport/protocol/order_table.hpp"

/// Lets a subscriber's helper thread reach every waiting thread, although the bells belong to the publishers (I13):
///
///   helper thread (kick)                     waiter
///      the event                             V3 g := event_seq
///   V1 event_seq += 1                        V4 sleepers[g mod 2] += 1
///   V2 sleepers[old mod 2] = 0?              V5 event_seq = g?   (no: V6, look at the event)
///      no: wake all on every bell, again        sleeps
///                                            V6 sleepers[g mod 2] -= 1
/// Either V2 sees a waiter of the old parity, and the helper thread wakes it until it is gone, or the waiter sees V1 at
/// V5. New waiters count in the other parity, so that the helper thread comes to an end.
namespace cardan::protocol {

template <class Env>
struct Sleepers {
  typename Env::template Word<std::uint32_t> event_seq{};
  typename Env::template Word<std::uint32_t> count[2]{};

  /// Waiter: announces itself. Returns false if an event happened meanwhile: then the waiter must not sleep. Call end()
  /// in both cases.
  bool begin(std::uint32_t& generation) noexcept {
    generation = Env::template load<Site::V3>(event_seq);
    Env::template add<Site::V4>(count[generation % 2], std::uint32_t{1});
    return Env::template load<Site::V5>(event_seq) == generation;
  }
  void end(std::uint32_t generation) noexcept {
    Env::template subtract<Site::V6>(count[generation % 2], std::uint32_t{1});
  }
  /// Helper thread: call it after the event. Returns the old generation: wake its waiters until some_left() returns
  /// false.
  std::uint32_t raise() noexcept { return Env::template add<Site::V1>(event_seq, std::uint32_t{1}); }
  [[nodiscard]] bool some_left(std::uint32_t generation) const noexcept {
    return Env::template load<Site::V2>(count[generation % 2]) != 0;
  }
};

}  // namespace cardan::protocol
