// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/trace.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <map>
#include <thread>
#include <vector>

#include "src/transport/endpoint/trace_names.hpp"
#include "src/transport/endpoint/trace_view_test.hpp"

namespace cardan::detail::trace {
namespace {

TEST(Trace, WritesOnlyWhileItIsOn) {
  EXPECT_FALSE(on());
  {
    const Switch tracing;
    EXPECT_TRUE(on());
    TraceView view(tracing);
    std::thread([] { note(Kind::Take, 1, 2, 3); }).join();
    std::size_t events = 0;
    for (std::uint32_t r = 0; r < view.header().committed.load(); ++r) events += view.drain(r).size();
    EXPECT_EQ(events, 1U);
    const Switch another;
  }
  EXPECT_FALSE(on());
  const Switch again;
  TraceView view(again);
  EXPECT_TRUE(on());
  for (std::uint32_t r = 0; r < view.header().committed.load(); ++r) EXPECT_TRUE(view.drain(r).empty());
}

TEST(Trace, OffNothingIsWritten) {
  TraceView view{Switch{}};
  ASSERT_FALSE(on());
  std::thread([] {
    for (int i = 0; i < 100; ++i) note(Kind::Take, 1, 2, 3);
    const Asleep asleep;
  }).join();
  for (std::uint32_t r = 0; r < view.header().committed.load(); ++r) EXPECT_TRUE(view.drain(r).empty());
}

TEST(Trace, EachThreadHasItsRing) {
  constexpr std::size_t kThreads = 6;
  constexpr std::uint64_t kEvents = 1000;
  const Switch tracing;
  TraceView view(tracing);
  const std::uint64_t without_ring = view.header().without_ring.load();  // tests that are repeated share the area
  std::barrier all_alive(static_cast<std::ptrdiff_t>(kThreads));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t n = 1; n <= kEvents; ++n) note(Kind::Take, t + 1, n);
      all_alive.arrive_and_wait();  // else one might have the ring of another
    });
  for (std::thread& t : threads) t.join();
  std::map<std::uint64_t, std::uint64_t> events_of;
  for (std::uint32_t r = 0; r < view.header().committed.load(); ++r) {
    const auto events = view.drain(r);
    for (std::size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(events[i].stream, events[0].stream) << "two threads in one ring";
      EXPECT_EQ(events[i].owner, events[0].owner);
      EXPECT_EQ(events[i].sequence, i + 1);
    }
    if (!events.empty()) events_of[events[0].stream] += events.size();
  }
  EXPECT_EQ(events_of.size(), kThreads);
  for (const auto& [thread, events] : events_of) EXPECT_EQ(events, kEvents);
  EXPECT_EQ(view.header().without_ring.load(), without_ring);
}

TEST(Trace, TheRingOfAThreadThatEndedIsTakenOver) {
  const Switch tracing;
  const TraceView view(tracing);
  const std::uint64_t before = view.header().without_ring.load();
  std::vector<std::pair<std::uint32_t, std::uint8_t>> seen;
  for (std::uint32_t i = 0; i < 2 * layout::kTraceRings; ++i) {
    pid_t thread = 0;
    std::thread([&] {
      thread = ::gettid();
      note(Kind::Take, 1, i);
    }).join();
    for (const RingOwner& owner : ring_owners())
      if (owner.thread == thread) seen.emplace_back(owner.ring, owner.owner);
  }
  EXPECT_EQ(view.header().without_ring.load(), before);
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end()) << "each thread has its own mark in a ring";
}

TEST(Trace, EventsOfThreadsWithoutARingAreCounted) {
  Switch tracing;
  const TraceView view(tracing);
  const std::uint64_t before = view.header().without_ring.load();
  constexpr std::uint32_t kThreads = layout::kTraceRings + 10;
  std::barrier all_alive(static_cast<std::ptrdiff_t>(kThreads + 1));
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      note(Kind::Take, 1, 1);
      all_alive.arrive_and_wait();
      all_alive.arrive_and_wait();  // more rings have memory now
      note(Kind::Take, 1, 2);
      all_alive.arrive_and_wait();
    });
  all_alive.arrive_and_wait();
  const std::uint64_t first = view.header().without_ring.load() - before;
  EXPECT_GE(first, 10U);
  tracing.grow();
  EXPECT_EQ(view.header().committed.load(), layout::kTraceRings);
  all_alive.arrive_and_wait();
  all_alive.arrive_and_wait();
  for (std::thread& t : threads) t.join();
  EXPECT_GE(view.header().without_ring.load() - before - first, 10U) << "no more than 64 rings";
}

TEST(Trace, KnowsTheNamesOfThreads) {
  const Switch tracing;
  std::vector<RingOwner> alive, ended;
  pid_t thread = 0;
  std::thread([&] {
    thread = ::gettid();
    ::pthread_setname_np(::pthread_self(), "camera/main");
    note(Kind::Take, 1, 1);
    alive = ring_owners();
  }).join();
  ended = ring_owners();
  for (const auto* owners : {&alive, &ended}) {
    const auto it =
        std::find_if(owners->begin(), owners->end(), [&](const RingOwner& owner) { return owner.thread == thread; });
    ASSERT_NE(it, owners->end());
    EXPECT_EQ(it->name, "camera/main");
  }
}

TEST(TraceNames, CallbacksHaveOneNumberEach) {
  const std::uint32_t a = name_of_callback("detector.on_image");
  const std::uint32_t b = name_of_callback("detector.on_timer");
  EXPECT_NE(a, 0U);
  EXPECT_NE(a, b);
  EXPECT_EQ(name_of_callback("detector.on_image"), a);
  EXPECT_EQ(name_of_callback(std::string(1000, 'x')), name_of_callback(std::string(kLongestName, 'x')));
}

TEST(TraceNames, AnObserverReadsThemInParts) {
  std::uint64_t from = 1;
  while (true) {
    const auto part = names_from(from, 100);
    if (part.empty()) break;
    from = part.back().number + 1;
  }
  {
    const StreamName one(77, "/one");
    const StreamName two(78, "/two");
  }
  const auto first = names_from(from, 1);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_TRUE(first[0].stream);
  EXPECT_EQ(first[0].id, 77U);
  EXPECT_EQ(first[0].text, "/one") << "also after its end";
  const auto second = names_from(first[0].number + 1, 100);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].text, "/two");
}

TEST(TraceNames, StreamsThatHaveEndedMakeRoom) {
  for (std::uint64_t i = 0; i < 2 * kMostStreams; ++i) const StreamName one(i, "/gone");
  const StreamName last(123'456, "/last");
  std::uint64_t from = 1;
  std::size_t streams = 0;
  std::string topic;
  for (auto part = names_from(from, 100); !part.empty(); part = names_from(from, 100)) {
    for (const Named& name : part) {
      if (name.stream) ++streams;
      if (name.stream && name.id == 123'456) topic = name.text;
    }
    from = part.back().number + 1;
  }
  EXPECT_LE(streams, kMostStreams);
  EXPECT_EQ(topic, "/last");
}

}  // namespace
}  // namespace cardan::detail::trace
