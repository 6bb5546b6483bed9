// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cardan/detail/atomic.hpp"
#include "src/transport/protocol/slot_protocol.hpp"

/// The layout of the two kinds of shared pages, byte for byte (docs/memory-layout.md is the specification).
/// A subscriber copies the header once, checks every number in the copy, and never looks at the original again.
namespace cardan::layout {

inline constexpr std::uint64_t kMagic = 0x31304e4144524143ULL;  // "CARDAN01"
inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::size_t kPage = 4096;
inline constexpr std::size_t kLine = 64;
inline constexpr std::size_t kRecord = 128;  ///< slot records start at pairs of lines, which the core fetches together
inline constexpr std::size_t kPageAlignedFrom = 64 * 1024;  ///< payloads of at least this size start on a page boundary
inline constexpr std::uint32_t kMaxDepth = 1024;
inline constexpr std::uint32_t kMaxHolds = 200;   ///< samples that one subscriber may announce to hold
inline constexpr std::uint32_t kMaxThreads = 50;  ///< threads that one subscriber may announce to take with
inline constexpr std::size_t kMaxPayload = std::size_t{1} << 30;

/// The first page of a publisher's area. The publisher writes it before it hands the area to any process, and never
/// again.
struct Header {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t max_slots;
  std::uint32_t depth;
  std::uint32_t pid;
  std::uint64_t area_bytes;
  std::uint64_t front_offset;  ///< the word `latest`, alone in its line: subscribers poll it
  std::uint64_t hot_offset;
  std::uint64_t ring_offset;
  std::uint64_t slots_offset;
  std::uint64_t slot_stride;
  std::uint64_t message_offset;  ///< from the slot record to the message's fixed struct
  std::uint64_t message_bytes;
  std::uint64_t payload_offset;  ///< of slot 0's payload in the area
  std::uint64_t payload_stride;
  std::uint64_t payload_bytes;  ///< capacity of one payload
  std::uint64_t schema_offset;
  std::uint64_t schema_bytes;
  std::uint64_t type_hash;
  std::uint64_t stream;  ///< random, one for each publisher object
  std::int64_t deadline_ns;
  std::int64_t lifespan_ns;
  std::int64_t created_ns;  ///< steady clock
  std::uint32_t reliable;
  std::uint32_t chain_entries;  ///< ChainEntry of each slot: they follow the message's fixed struct
  std::array<char, 256> topic;
  std::array<char, 128> type_name;
};
static_assert(sizeof(Header) <= kPage);

/// The words that publish writes besides `latest` and the slot: state in one line, statistics in the next.
struct Hot {
  alignas(kLine)
      Atomic<std::int64_t> heartbeat_ns;  ///< steady clock of the last publish, or loan if the topic has a deadline
  Atomic<std::uint32_t> filling;          ///< low word of the sequence whose loan rang the bell; 0: none
  Atomic<std::uint32_t> closed;           ///< 1: the publisher ended in order
  Atomic<std::uint32_t> checksum;         ///< 1: samples carry a checksum from now on
  Atomic<std::uint32_t> committed;        ///< slots that have memory
  alignas(kLine) Atomic<std::uint64_t> bytes;  ///< payload and message bytes published
  Atomic<std::int64_t> longest_gap_ns;         ///< between two publications
  Atomic<std::uint64_t> wakes;                 ///< system calls made to wake subscribers
  Atomic<std::uint64_t> prewakes;
  Atomic<std::uint64_t> reliable_timeouts;
  Atomic<std::uint64_t> set_aside;     ///< times a slot was found still held
  Atomic<std::uint32_t> backpressure;  ///< 1: a reliable publish waits for subscribers' progress
};
static_assert(sizeof(Hot) == 2 * kLine);

/// The head of a slot record. The message's arena and fixed struct follow it.
struct alignas(kLine) SlotMeta {
  Atomic<std::uint64_t> sequence;   ///< n: alive as publication n; 0: dead
  Atomic<std::int64_t> publish_ns;  ///< steady clock
  Atomic<std::int64_t> source_ns;   ///< the application's time stamp; 0: none
  Atomic<std::uint64_t> payload_bytes;
  Atomic<std::uint32_t> checksum;
  Atomic<std::uint32_t> has_checksum;
  Atomic<std::int64_t> origin_ns;      ///< steady clock: the oldest publication that it rests on; −1: not known
  Atomic<std::uint64_t> cause_stream;  ///< of the nearest sample that caused it and is not private; 0: none
  Atomic<std::uint64_t> cause_sequence;
};
static_assert(sizeof(SlotMeta) == kLine);

/// The part of one chain in the grounds of a slot's publication (docs/chains.md).
struct ChainEntry {
  Atomic<std::uint32_t> from;      ///< hash of the topic where the chain begins; 0: none
  Atomic<std::uint32_t> hop;       ///< hash of the component that took longest; 0: no component yet
  Atomic<std::int64_t> origin_ns;  ///< steady clock: the oldest publication on that topic; −1: not known
  Atomic<std::int64_t> hop_ns;     ///< duration of that hop
  Atomic<std::int64_t> since_ns;   ///< while the slot is filled: publish time of the sample that brought it
};
static_assert(sizeof(ChainEntry) == 32);
inline constexpr std::uint32_t kMaxChainEntries = 8;

/// From the slot record to its chain entries.
constexpr std::size_t chain_offset(std::size_t message_offset, std::size_t message_bytes) {
  return (message_offset + message_bytes + 7) / 8 * 8;
}

constexpr std::size_t end_of_record(std::size_t message_offset, std::size_t message_bytes, std::size_t chain_entries) {
  return chain_entries == 0 ? message_offset + message_bytes
                            : chain_offset(message_offset, message_bytes) + chain_entries * sizeof(ChainEntry);
}

inline constexpr std::size_t kHoldWords = protocol::kMaxSlots / 8;

/// The only page of a subscriber for one stream. Publish looks only at the first line.
struct SubscriberPage {
  alignas(kLine) Atomic<std::uint32_t> waiting;  ///< threads of this subscriber about to sleep or asleep
  Atomic<std::uint32_t> prewake;                 ///< waiting threads that also want the ring of a loan
  Atomic<std::uint32_t> armed;                   ///< grows each time the descriptor of fd() was emptied
  alignas(kLine) Atomic<std::uint64_t> cursor;   ///< sequence of the last sample taken
  Atomic<std::uint32_t> progress;                ///< futex word: grows with the cursor while a reliable publisher waits
  Atomic<std::uint32_t> reserved;
  Atomic<std::uint64_t> received;
  Atomic<std::uint64_t> missed;
  Atomic<std::uint64_t> bad;                                      ///< checksum mismatches and malformed messages
  Atomic<std::int64_t> spin_ns;                                   ///< time spent spinning
  Atomic<std::uint64_t> sleeps;                                   ///< number of sleeps in the kernel
  alignas(kLine) std::array<Atomic<std::uint32_t>, 128> latency;  ///< histogram of publish → take, see latency_bucket()
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t pid;
  Atomic<std::int64_t> greatest_age_ns;                       ///< of those in `age`
  Atomic<std::uint64_t> unknown_origins;                      ///< samples taken whose age nobody can tell
  alignas(kLine) std::array<Atomic<std::uint32_t>, 128> age;  ///< histogram of origin → take
  alignas(kLine) std::array<Atomic<std::uint64_t>, kHoldWords> hold;
};
static_assert(sizeof(SubscriberPage) <= kPage);

/// Four buckets for each octave, from 64 ns on. Bucket b starts at 2^(6 + b/4) · (1 + (b mod 4)/4) ns.
constexpr std::size_t latency_bucket(std::int64_t ns) {
  if (ns < 64) return 0;
  const int octave = 63 - __builtin_clzll(static_cast<unsigned long long>(ns));
  const auto quarter = static_cast<std::size_t>(ns >> (octave - 2)) & 3U;
  const std::size_t bucket = static_cast<std::size_t>(octave - 6) * 4 + quarter;
  return bucket < 128 ? bucket : 127;
}
constexpr std::int64_t latency_of_bucket(std::size_t bucket) {
  const auto octave = static_cast<int>(bucket / 4) + 6;
  const std::int64_t base = std::int64_t{1} << octave;
  return base + static_cast<std::int64_t>(bucket % 4) * (base / 4);
}

/// The number of bells on a board. Each bell has its own line. A publishing process has one board of 64 KiB for
/// each user that it serves.
inline constexpr std::size_t kBells = 1024;
struct alignas(kLine) Bell {
  Atomic<std::uint32_t> phase;
};
static_assert(sizeof(Bell) == kLine);

/// Whether payloads of this capacity are a region of their own; else each follows its record.
constexpr bool payloads_apart(std::size_t capacity) { return capacity >= kPageAlignedFrom; }

constexpr std::size_t align_up(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace cardan::layout
