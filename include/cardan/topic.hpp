// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cardan/detail/duration.hpp"

namespace cardan {

/// How a subscriber waits for the next sample. Each way trades CPU time for latency.
struct Waiting {
  /// One for each of the functions below: block(), spin_then_block(), prewake(), anticipate(), follow().
  enum class Kind : std::uint8_t { Block, Spin, Prewake, Anticipate, Follow };
  Kind kind = Kind::Block;
  /// Spin: how long to spin before sleeping. Prewake: the longest spin after a loan. Anticipate: the margin before the
  /// expected frame. Follow: the least margin after it.
  std::chrono::nanoseconds limit{0};
};

/// Sleeps in the kernel. Costs no CPU, but each sample pays the full wake-up of a sleeping core (5 µs hot, 50 µs and
/// more when idle).
constexpr Waiting block() { return {}; }
/// Spins for `duration` before sleeping. Costs 0.2 µs if the sample comes in time, and a whole core while it does not.
constexpr Waiting spin_then_block(std::chrono::nanoseconds duration) { return {Waiting::Kind::Spin, duration}; }
/// Is woken when the publisher takes a loan, and spins, at most for `limit`, until it publishes. The wake-up overlaps
/// the filling. For fills of 100 µs to some milliseconds; for longer ones, call `loan.soon()` near their end.
constexpr Waiting prewake(std::chrono::nanoseconds limit = std::chrono::milliseconds{5}) {
  return {Waiting::Kind::Prewake, limit};
}
/// Learns the rhythm of a periodic stream. Sleeps until about `margin` before the next frame is due (longer where
/// waking takes longer), then spins.
constexpr Waiting anticipate(std::chrono::nanoseconds margin = std::chrono::microseconds{100}) {
  return {Waiting::Kind::Anticipate, margin};
}
/// For bridges and monitors: learns the rhythm of a stream, and looks for the next frame by its own clock, `margin` or
/// two deviations after it is due, and each 2 to 10 ms if it is late or the stream jitters. The publisher then has
/// nobody to wake, so such a subscriber costs it no system call. A frame wakes as with block() after a silence, or if
/// others would soon overwrite it; one system call then wakes all that follow. A frame that is early waits until the
/// look. fd() does the same. Not of a reliable stream, with a lifespan, or of periods above 250 ms: these as with
/// block().
constexpr Waiting follow(std::chrono::nanoseconds margin = std::chrono::microseconds{200}) {
  return {Waiting::Kind::Follow, margin};
}

/// Which users may subscribe to a topic, and whose publications on it a subscriber accepts. The handshake decides by
/// the peer's credentials as the kernel reports them.
enum class Access : std::uint8_t {
  Owner,     ///< the same user only
  Group,     ///< users that share the publisher's group
  Everyone,  ///< every user that can reach the run directory
  Policy,    ///< as the policy file says (CARDAN_POLICY, else policy.json in the run directory)
};

/// The contract of a topic. Both sides include the same one. Every field has a default that fits a camera.
struct TopicOptions {
  /// Payload bytes that a message may carry beyond its fixed part (pixels, points, vectors). Address space is reserved
  /// for each slot; memory is committed only for slots in use. A subscriber refuses another user's publisher that has
  /// room for more.
  std::size_t max_bytes = 0;
  /// 1: a subscriber gets the freshest frame and skips older ones. k: a queue of the last k frames, which costs k slots
  /// of memory.
  std::uint32_t depth = 1;
  /// publish() waits for reliable subscribers (up to `reliable_timeout`), so it is no longer wait-free.
  bool reliable = false;
  /// The longest wait of a reliable publish. A slower subscriber is demoted to best effort until it has caught up.
  std::chrono::nanoseconds reliable_timeout = std::chrono::milliseconds{100};
  /// Subscribers get an event if the publisher neither published nor took a loan for this time. 0: no timer, no event.
  std::chrono::nanoseconds deadline{0};
  /// Samples older than this are dropped on take and counted as missed. 0: no limit.
  std::chrono::nanoseconds lifespan{0};
  /// How subscribers wait, unless their own options override it.
  Waiting waiting{};
  /// Users that may subscribe, and users whose publications a subscriber accepts. A wider choice lets more programs
  /// read the topic and publish to its subscribers.
  Access access = Access::Owner;
  /// CRC-32C of every frame. It detects bad memory and stray writes and costs about 0.1 ms per MiB on each side. It can
  /// be switched at run time.
  bool checksum = false;
  /// Allows one publisher only: while it exists, the constructor of another throws Error (NameTaken). For commands that
  /// two programs must never give at the same time. If two start at the same moment, at most one stays.
  bool exclusive = false;
  /// The topic cannot be reached from outside this process.
  bool process_private = false;
  /// Loans out at once. Each costs a slot.
  std::uint32_t loans = 1;
  /// Upper bound of the topic's memory in bytes. A subscriber whose holds would exceed it is refused. 0: the
  /// publisher's own slots, plus slots for subscribers: as many as fit into 256 MiB, or four times the publisher's own,
  /// whichever is more, but at least 32 and at most 512.
  std::size_t max_memory = 0;
};

/// A topic of messages of type T: its name and its contract.
/// `inline constexpr cardan::Topic<cardan::Image> kFront{"/camera/front", {.max_bytes = …}};`
template <class T>
struct Topic {
  using Message = T;
  const char* name;  ///< starts with '/', 2 to 255 characters; the same on both sides
  TopicOptions options{};
};

}  // namespace cardan
