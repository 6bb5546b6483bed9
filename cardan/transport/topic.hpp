// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace cardan {

/// How a reader waits for the next sample: what it pays in CPU for what it saves in latency.
struct Waiting {
  enum class Kind : std::uint8_t { Block, Spin, Prewake, Anticipate };
  Kind kind = Kind::Block;
  /// Spin: how long to spin before sleeping. Prewake: the longest spin after a loan. Anticipate: the margin before the
  /// expected frame.
  std::chrono::nanoseconds limit{0};
};

/// Sleep in the kernel: no CPU, and the full wake-up of a sleeping core (5 µs hot, 50 µs and more when idle) on each
/// sample.
constexpr Waiting block() { return {}; }
/// Spin for `duration` first: 0.2 µs when the sample comes in time, a whole core while it does not.
constexpr Waiting spin_then_block(std::chrono::nanoseconds duration) { return {Waiting::Kind::Spin, duration}; }
/// Be woken when the publisher takes a loan and spin, at most `limit`, until it publishes: the wake-up overlaps the
/// filling. For fills of 100 µs to some milliseconds; use `loan.soon()` near the end of longer ones.
constexpr Waiting prewake(std::chrono::nanoseconds limit = std::chrono::milliseconds{5}) {
  return {Waiting::Kind::Prewake, limit};
}
/// Learn a periodic stream's rhythm, sleep until about `margin` before the next frame is due (more where waking takes
/// longer), spin through the rest.
constexpr Waiting anticipate(std::chrono::nanoseconds margin = std::chrono::microseconds{100}) {
  return {Waiting::Kind::Anticipate, margin};
}

/// Who may subscribe to a topic, and whose publications of it a subscriber accepts; decided in the handshake by the
/// peer's credentials as the kernel reports them.
enum class Access : std::uint8_t {
  Owner,     ///< the same user only
  Group,     ///< users that share the publisher's group
  Everyone,  ///< every user who can reach the run directory
  Policy,    ///< what the policy file says (CARDAN_POLICY, else policy.json in the run directory)
};

/// The contract of a topic: both sides include the same one. Every field has a default that fits a camera.
struct TopicOptions {
  /// Payload bytes a message may carry beyond its fixed part (pixels, points, vectors). Address space is reserved per
  /// slot, memory committed for slots in use only. A reader refuses another user's publisher that has room for more.
  std::size_t max_bytes = 0;
  /// 1: a reader gets the freshest frame, older ones are skipped. k: a queue of the last k, at k slots of memory.
  std::uint32_t depth = 1;
  /// Publish waits for reliable subscribers (up to `reliable_timeout`), so it is no longer wait-free.
  bool reliable = false;
  /// The longest wait of a reliable publish; who is slower is demoted to best effort until it has caught up.
  std::chrono::nanoseconds reliable_timeout = std::chrono::milliseconds{100};
  /// Subscribers get an event when nothing was published or loaned for this long. 0: no timer, no event.
  std::chrono::nanoseconds deadline{0};
  /// Samples older than this are dropped on take and counted as missed. 0: no age is too old.
  std::chrono::nanoseconds lifespan{0};
  /// How subscribers wait unless they say otherwise.
  Waiting waiting{};
  Access access = Access::Owner;
  /// CRC-32C of every frame: finds bad memory and stray writes, for about 0.1 ms per MiB on each side. Switchable while
  /// running.
  bool checksum = false;
  /// One publisher only: while there is one, the constructor of another throws Error (NameTaken). For commands that two
  /// programs must never give at once. Of two that start at the same moment at most one stays.
  bool exclusive = false;
  /// Nothing of the topic can be reached from outside this process.
  bool process_private = false;
  /// Loans out at once; each costs a slot.
  std::uint32_t loans = 1;
  /// Upper bound of the topic's memory in bytes; a subscriber whose holds would exceed it is refused. 0: what the
  /// publisher itself needs, and for readers 256 MiB or four times that, whichever is more, but 32 to 512 slots.
  std::size_t max_memory = 0;
};

/// A topic of messages of type T: its name and contract. `inline constexpr cardan::Topic<cardan::Image>
/// kFront{"/camera/front", {.max_bytes = …}};`
template <class T>
struct Topic {
  using Message = T;
  const char* name;
  TopicOptions options{};
};

}  // namespace cardan
