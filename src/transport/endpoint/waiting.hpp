// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/base/futex.hpp"

namespace cardan::detail {

class SubscriberCore;

// Futex bits distinguish the sleepers. Bit 31: sleeps through pre-wakes. The others name the CPU (modulo 31) on which a
// subscriber that accepts pre-wakes fell asleep, so that a pre-wake can leave out the publisher's own CPU.
inline constexpr std::uint32_t kNoPrewakeBit = 1U << 31;
constexpr std::uint32_t prewake_bit(int cpu) { return 1U << (static_cast<std::uint32_t>(cpu < 0 ? 0 : cpu) % 31); }
constexpr std::uint32_t prewake_bits_except(int cpu) { return ~kNoPrewakeBit & ~prewake_bit(cpu); }

/// One descriptor or timer to wait for.
struct Foreign {
  int fd;
  bool ready = false;
};

/// Sleeps until one of the subscribers has a new sample or an event, one of the descriptors is readable, a stop is
/// requested, `own.word` is no longer `own.expected` and was woken, or `deadline_ns` (steady clock, 0: never). May
/// return early.
/// Any thread; blocks.
void sleep_on(std::span<SubscriberCore* const> subscribers, std::span<Foreign> foreign, std::int64_t deadline_ns,
              bool prewake, futex::Watch own = {nullptr, 0}) noexcept;

/// Whether sleep_on() with this many subscribers, of one stream each, can watch a separate word. If not, wake it by a
/// descriptor.
bool can_watch_word(std::size_t subscribers) noexcept;

}  // namespace cardan::detail
