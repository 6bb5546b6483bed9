// SPDX-License-Identifier: Apache-2.0
#include "src/transport/protocol/trace_protocol.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "src/transport/protocol/trace_layout.hpp"

namespace cardan::protocol {
namespace {

using Event = EventWords<kTraceWords>;

struct Ring {
  explicit Ring(std::uint32_t events) : words(events * kTraceWords), count(events) {}
  [[nodiscard]] TraceWriterRing<Native> writer() { return {&written, words.data(), count}; }
  [[nodiscard]] TraceReaderRing<Native> reader() const { return {&written, words.data(), count}; }
  void write(std::uint64_t n) { write_event<Native>(writer(), {n, n, n, n}); }
  [[nodiscard]] TraceDrain drain(std::uint64_t next, std::span<Event> into) const {
    return drain_events<Native, kTraceWords>(reader(), next, into);
  }

  Atomic<std::uint64_t> written{0};
  std::vector<Atomic<std::uint64_t>> words;
  std::uint32_t count;
};

TEST(TraceProtocol, EventsComeInOrder) {
  Ring ring(8);
  std::vector<Event> room(8);
  EXPECT_EQ(ring.drain(0, room).count, 0U);
  for (std::uint64_t n = 0; n < 5; ++n) ring.write(n);
  const TraceDrain drained = ring.drain(0, room);
  EXPECT_EQ(drained.count, 5U);
  EXPECT_EQ(drained.overwritten, 0U);
  EXPECT_EQ(drained.next, 5U);
  for (std::uint64_t n = 0; n < 5; ++n) EXPECT_EQ(room[n], (Event{n, n, n, n}));
  EXPECT_EQ(ring.drain(drained.next, room).count, 0U);
}

TEST(TraceProtocol, ARingWraps) {
  Ring ring(8);
  std::vector<Event> room(8);
  std::uint64_t next = 0;
  for (std::uint64_t n = 0; n < 100; ++n) {
    ring.write(n);
    const TraceDrain drained = ring.drain(next, room);
    ASSERT_EQ(drained.count, 1U);
    ASSERT_EQ(drained.overwritten, 0U);
    ASSERT_EQ(room[0], (Event{n, n, n, n}));
    next = drained.next;
  }
}

TEST(TraceProtocol, CountsWhatWasOverwritten) {
  Ring ring(8);
  std::vector<Event> room(8);
  for (std::uint64_t n = 0; n < 20; ++n) ring.write(n);
  const TraceDrain drained = ring.drain(2, room);
  EXPECT_EQ(drained.count, 7U) << "the slot of the event that may be under way does not count";
  EXPECT_EQ(drained.overwritten, 11U);
  EXPECT_EQ(room[0][0], 13U);
  EXPECT_EQ(drained.next, 20U);
}

TEST(TraceProtocol, ASmallRoomTakesTheOldestFirst) {
  Ring ring(8);
  std::vector<Event> room(3);
  for (std::uint64_t n = 0; n < 7; ++n) ring.write(n);
  const TraceDrain first = ring.drain(0, room);
  EXPECT_EQ(first.count, 3U);
  EXPECT_EQ(first.next, 3U);
  EXPECT_EQ(room[2][0], 2U);
  EXPECT_EQ(ring.drain(first.next, {}).next, 3U) << "no room: nothing is passed over";
}

TEST(TraceProtocol, AHostileCounterIsBounded) {
  Ring ring(8);
  std::vector<Event> room(8);
  for (std::uint64_t n = 0; n < 20; ++n) ring.write(n);
  EXPECT_TRUE(ring.drain(21, room).corrupt) << "it went back";
  ring.written.store(kMostTraceEvents + 1);
  EXPECT_TRUE(ring.drain(20, room).corrupt);
  ring.written.store(UINT64_MAX);
  EXPECT_TRUE(ring.drain(20, room).corrupt);
  ring.written.store(kMostTraceEvents);
  const TraceDrain most = ring.drain(20, room);
  EXPECT_FALSE(most.corrupt);
  EXPECT_EQ(most.overwritten + most.count, kMostTraceEvents - 20);
  EXPECT_LE(most.count, 7U);
}

TEST(TraceProtocol, TornEventsAreNotAccepted) {
  Ring ring(16);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (std::uint64_t n = 0; !stop; ++n) ring.write(n);
  });
  std::vector<Event> room(16);
  std::uint64_t next = 0, accepted = 0, overwritten = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  while (std::chrono::steady_clock::now() < until || accepted == 0) {
    const TraceDrain drained = ring.drain(next, room);
    ASSERT_FALSE(drained.corrupt);
    for (std::size_t i = 0; i < drained.count; ++i) {
      const std::uint64_t n = next + drained.overwritten + i;
      ASSERT_EQ(room[i], (Event{n, n, n, n}));
    }
    accepted += drained.count;
    overwritten += drained.overwritten;
    ASSERT_EQ(drained.next, next + drained.overwritten + drained.count);
    next = drained.next;
    if (next > 1000 && accepted == 0) std::this_thread::yield();
  }
  stop = true;
  writer.join();
  EXPECT_EQ(accepted + overwritten, next);
}

TEST(TraceLayout, EventsArePackedAndChecked) {
  const layout::TraceEvent event{.time_ns = 12'345,
                                 .stream = UINT64_MAX,
                                 .sequence = layout::kTraceSequence,
                                 .argument = 7,
                                 .kind = layout::TraceKind::Loss,
                                 .owner = 255};
  layout::TraceEvent back;
  ASSERT_TRUE(layout::unpack(layout::pack(event), back));
  EXPECT_EQ(back.time_ns, event.time_ns);
  EXPECT_EQ(back.stream, event.stream);
  EXPECT_EQ(back.sequence, event.sequence);
  EXPECT_EQ(back.argument, event.argument);
  EXPECT_EQ(back.kind, event.kind);
  EXPECT_EQ(back.owner, event.owner);

  auto words = layout::pack(event);
  words[2] &= ~(std::uint64_t{0xff} << 56);
  EXPECT_FALSE(layout::unpack(words, back)) << "no kind";
  words[2] |= std::uint64_t{layout::kLastTraceKind + 1U} << 56;
  EXPECT_FALSE(layout::unpack(words, back)) << "a kind that does not exist";
  words = layout::pack(event);
  words[0] = 0;
  EXPECT_FALSE(layout::unpack(words, back)) << "no time";
  words[0] = UINT64_MAX;
  EXPECT_FALSE(layout::unpack(words, back)) << "a time before the first";
  layout::TraceEvent woken{.time_ns = 10, .argument = 11, .kind = layout::TraceKind::Woken};
  EXPECT_FALSE(layout::unpack(layout::pack(woken), back)) << "it fell asleep after it was woken";
  woken.argument = 10;
  EXPECT_TRUE(layout::unpack(layout::pack(woken), back));
}

}  // namespace
}  // namespace cardan::protocol
