// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/transport/protocol/layout.hpp"
#include "src/transport/protocol/trace_protocol.hpp"

/// The layout of a process's trace area, byte for byte (docs/protocols/trace.md):
///
///   0                       header, one page
///   4096                    one line for each ring: `written`
///   8192                    the rings: each `ring_events` events of 32 bytes
namespace cardan::layout {

inline constexpr std::uint64_t kTraceMagic = 0x3130525444524143ULL;  // "CARDTR01"
inline constexpr std::uint32_t kTraceVersion = 1;
inline constexpr std::uint32_t kTraceRings = 64;         ///< their lines fill a page
inline constexpr std::uint32_t kTraceRingEvents = 8192;  ///< of our own areas
inline constexpr std::uint32_t kMostTraceRingEvents = 1U << 16;
inline constexpr std::uint32_t kFewestTraceRingEvents = 128;  ///< a page
inline constexpr std::size_t kTraceEventBytes = protocol::kTraceWords * sizeof(std::uint64_t);

/// Its process writes the first line once, before it hands the area to any process.
struct TraceHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t rings;
  std::uint32_t ring_events;
  std::uint32_t pid;
  std::uint64_t area_bytes;
  alignas(kLine) Atomic<std::uint32_t> committed;  ///< rings that have memory; only grows
  Atomic<std::uint64_t> without_ring;              ///< events of threads for which no ring was left
};
static_assert(sizeof(TraceHeader) == 2 * kLine);

struct alignas(kLine) TraceLine {
  Atomic<std::uint64_t> written;  ///< events that its thread has written so far
};
static_assert(kTraceRings * sizeof(TraceLine) == kPage);

inline constexpr std::size_t kTraceLinesOffset = kPage;
inline constexpr std::size_t kTraceRingsOffset = 2 * kPage;

constexpr std::size_t trace_ring_bytes(std::uint32_t ring_events) { return ring_events * kTraceEventBytes; }
constexpr std::size_t trace_area_bytes(std::uint32_t rings, std::uint32_t ring_events) {
  return kTraceRingsOffset + rings * trace_ring_bytes(ring_events);
}

/// The kind of an event. The numbers are in shared memory.
enum class TraceKind : std::uint8_t {
  Publish = 1,  ///< argument: bytes of the message
  Take,         ///< from shared memory
  Woken,        ///< argument: steady clock when the thread went to sleep
  Queue,        ///< arrived in the queue of an input; argument: name of its callback
  Begin,        ///< of a callback; argument: its name
  End,          ///< the same
  Drop,         ///< given up before a callback got it; argument: name of that callback, or 0: it was damaged
  Loss,         ///< argument: number of samples that were lost just before this one
  Rests,        ///< right after Publish: the sample that caused it; argument: sequence of the publication
  Read,         ///< what the thread publishes next rests on it, too; argument: on which stream, or 0: in this callback
};
inline constexpr std::uint8_t kLastTraceKind = static_cast<std::uint8_t>(TraceKind::Read);

/// One event, unpacked. In the ring: time, stream, kind : 8 | owner : 8 | sequence : 48, and the argument; of Begin and
/// End, cpu : 32 | name : 32.
struct TraceEvent {
  std::int64_t time_ns = 0;    ///< steady clock of its process
  std::uint64_t stream = 0;    ///< Header::stream of the sample's publisher; 0: no sample
  std::uint64_t sequence = 0;  ///< of that stream; the low 48 bits
  std::uint64_t argument = 0;
  TraceKind kind = TraceKind::Publish;
  std::uint8_t owner = 0;  ///< which thread, of those that have had this ring one after the other
  std::uint32_t cpu = 0;   ///< of Begin and End: number of the processor, and 1; 0: not known
};

inline constexpr std::uint64_t kTraceSequence = (std::uint64_t{1} << 48) - 1;

constexpr bool has_cpu(TraceKind kind) { return kind == TraceKind::Begin || kind == TraceKind::End; }

constexpr protocol::EventWords<protocol::kTraceWords> pack(const TraceEvent& e) {
  return {static_cast<std::uint64_t>(e.time_ns), e.stream,
          static_cast<std::uint64_t>(e.kind) << 56 | std::uint64_t{e.owner} << 48 | (e.sequence & kTraceSequence),
          has_cpu(e.kind) ? std::uint64_t{e.cpu} << 32 | (e.argument & UINT32_MAX) : e.argument};
}

/// False: an honest process writes no such event.
constexpr bool unpack(const protocol::EventWords<protocol::kTraceWords>& words, TraceEvent& into) {
  const auto kind = static_cast<std::uint8_t>(words[2] >> 56);
  if (kind == 0 || kind > kLastTraceKind || words[0] == 0 || words[0] > (std::uint64_t{1} << 61)) return false;
  into = {.time_ns = static_cast<std::int64_t>(words[0]),
          .stream = words[1],
          .sequence = words[2] & kTraceSequence,
          .argument = words[3],
          .kind = static_cast<TraceKind>(kind),
          .owner = static_cast<std::uint8_t>(words[2] >> 48)};
  if (has_cpu(into.kind)) {
    into.cpu = static_cast<std::uint32_t>(into.argument >> 32);
    into.argument &= UINT32_MAX;
  }
  return into.kind != TraceKind::Woken || (into.argument != 0 && into.argument <= words[0]);
}

}  // namespace cardan::layout
