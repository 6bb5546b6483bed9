// SPDX-License-Identifier: Apache-2.0
// A ring of a hostile process, with any words, as an observer of a trace drains it.
#include <array>
#include <vector>

#include "src/transport/protocol/trace_layout.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cardan::fuzz::trace_target {
namespace {

constexpr std::uint32_t kRingEvents = 8;
using Words = protocol::EventWords<protocol::kTraceWords>;

void run(std::string_view input) {
  Input in(input);
  std::array<Atomic<std::uint64_t>, kRingEvents * protocol::kTraceWords> words{};
  Atomic<std::uint64_t> written{0};
  const protocol::TraceReaderRing<Native> ring{&written, words.data(), kRingEvents};
  std::uint64_t next = in.number(8);
  std::vector<Words> room(in.byte() % 32);
  for (int round = 0; round < 16 && !in.empty(); ++round) {
    written.store(in.number(8));
    for (std::size_t changes = in.byte(); changes != 0 && !in.empty(); --changes)
      words[in.byte() % words.size()].store(in.number(8));
    const auto drained = protocol::drain_events<Native, protocol::kTraceWords>(ring, next, room);
    if (drained.corrupt) {
      require(written.load() < next || written.load() > protocol::kMostTraceEvents, "an honest ring is refused");
      return;
    }
    require(drained.count <= room.size() && drained.count < kRingEvents, "more events than there are");
    require(drained.next <= written.load() && drained.next == next + drained.overwritten + drained.count,
            "an event is neither accepted nor counted");
    next = drained.next;
    for (std::size_t i = 0; i < drained.count; ++i) {
      layout::TraceEvent event;
      if (!layout::unpack(room[i], event)) continue;
      require(event.time_ns > 0 && event.sequence <= layout::kTraceSequence, "an impossible event");
      require(layout::pack(event) == room[i], "an event has two forms");
    }
  }
}

void add(std::string& to, std::uint64_t number, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to += static_cast<char>(number >> (8 * i) & 0xff);
}

std::vector<std::string> seeds() {
  std::string honest;
  add(honest, 0, 8);   // next
  add(honest, 16, 1);  // room
  add(honest, 2, 8);   // written
  add(honest, 8, 1);   // words that change
  for (std::uint64_t n = 0; n < 2; ++n) {
    const Words event = layout::pack({.time_ns = 5, .stream = 1, .sequence = n + 1});
    for (std::size_t i = 0; i < event.size(); ++i) {
      add(honest, n * event.size() + i, 1);
      add(honest, event[i], 8);
    }
  }
  std::string overtaken = honest;
  add(overtaken, 100, 8);
  add(overtaken, 0, 1);
  std::string back = overtaken;
  add(back, 1, 8);
  add(back, 0, 1);
  return {honest, overtaken, back};
}

}  // namespace
CARDAN_FUZZ_TARGET(trace, run, seeds)
}  // namespace cardan::fuzz::trace_target
