// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "src/transport/protocol/slot_protocol.hpp"

/// Lets an observer look at publications. The observer holds no slot, waits for no process and slows none, because it
/// writes no shared memory. It copies word by word and then checks that the slot still carries the same publication. No
/// torn copy is returned (I9).
namespace cardan::protocol {

/// Copies `count` words and reads each word once and whole. `from` is another process's memory, which may be refilled
/// meanwhile.
template <class Env>
void copy_words(const typename Env::template Word<std::uint64_t>* from, std::uint64_t* to, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) to[i] = Env::template load<Site::O2>(from[i]);
}

/// Runs `copy`, which reads the slot of publication `e` and returns whether the data is valid. Returns true if the data
/// is valid and belongs entirely to `e`.
template <class Env, class Copy>
[[nodiscard]] bool observe(const ReaderRing<Env>& ring, Entry e, Copy&& copy) noexcept(noexcept(copy())) {
  if (e.sequence == 0 || Env::template load<Site::O1>(ring.sequence(e.slot)) != e.sequence) return false;
  if (!copy()) return false;
  Env::template fence<Site::F2>();
  return Env::template load<Site::O3>(ring.sequence(e.slot)) == e.sequence;
}

/// Returns the newest publication if it is newer than number `after` and its slot exists.
template <class Env>
[[nodiscard]] std::optional<Entry> newest_after(const ReaderRing<Env>& ring, std::uint64_t after) noexcept {
  const Entry e = unpack(Env::template load<Site::R1>(*ring.latest));
  if (e.sequence <= after || e.slot >= ring.slots) return std::nullopt;
  return e;
}

/// Returns the oldest publication that is newer than number `after` and that the ring still names.
template <class Env>
[[nodiscard]] std::optional<Entry> oldest_after(const ReaderRing<Env>& ring, std::uint64_t after) noexcept {
  const std::optional<Entry> newest = newest_after<Env>(ring, after);
  if (!newest) return std::nullopt;
  std::uint64_t n = after + 1;
  if (newest->sequence >= ring.depth && n < newest->sequence - ring.depth + 1) n = newest->sequence - ring.depth + 1;
  for (; n < newest->sequence; ++n) {
    const Entry e = unpack(Env::template load<Site::R1b>(ring.ring[n % ring.depth]));
    if (e.sequence == n && e.slot < ring.slots) return e;
  }
  return newest;
}

}  // namespace cardan::protocol
