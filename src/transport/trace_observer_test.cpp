// SPDX-License-Identifier: Apache-2.0
#include "src/transport/trace_observer.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <new>
#include <thread>
#include <vector>

#include "cardan/cardan.hpp"
#include "src/base/area.hpp"
#include "src/base/socket.hpp"
#include "src/transport/endpoint/trace.hpp"
#include "tests/support/raw_peer.hpp"
#include "tests/support/run_directory.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::detail::TracedEvent;
using cardan::detail::TraceObserver;
using cardan::layout::TraceKind;
namespace trace = cardan::detail::trace;

struct Traced {
  std::uint64_t number = 0;
};

}  // namespace

CARDAN_MESSAGE(Traced, "test_msgs/msg/Traced", number);

namespace {

class TraceObserverTest : public cardan::test::OwnRunDirectory {};
const cardan::Topic<Traced> kTraced{"/traced", {.depth = 4}};

std::vector<TracedEvent> of_kind(const std::vector<TracedEvent>& events, TraceKind kind) {
  std::vector<TracedEvent> found;
  std::copy_if(events.begin(), events.end(), std::back_inserter(found),
               [kind](const TracedEvent& event) { return event.what.kind == kind; });
  return found;
}

TEST_F(TraceObserverTest, AnEmptyDomainIsNotAnError) {
  TraceObserver observer;
  std::vector<TracedEvent> events;
  EXPECT_EQ(observer.drain(events), 0U);
  EXPECT_TRUE(observer.processes().empty());
  EXPECT_TRUE(observer.problems().empty());
}

TEST_F(TraceObserverTest, SeesPublicationsAndTakes) {
  cardan::Publisher out{kTraced};
  cardan::Subscriber in{kTraced};
  TraceObserver observer;
  ASSERT_EQ(observer.processes().size(), 1U);
  EXPECT_EQ(observer.processes()[0].pid, ::getpid());
  const std::int64_t begin = cardan::steady_now();
  for (std::uint64_t i = 1; i <= 3; ++i) {
    out.publish({i});
    ASSERT_TRUE(in.take());
  }
  const std::int64_t end = cardan::steady_now();
  std::vector<TracedEvent> events;
  observer.drain(events);
  observer.refresh();
  const auto published = of_kind(events, TraceKind::Publish);
  const auto taken = of_kind(events, TraceKind::Take);
  ASSERT_EQ(published.size(), 3U);
  ASSERT_EQ(taken.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(published[i].what.sequence, i + 1);
    EXPECT_EQ(taken[i].what.sequence, i + 1);
    EXPECT_EQ(taken[i].what.stream, published[i].what.stream);
    EXPECT_EQ(published[i].what.argument, sizeof(Traced));
    EXPECT_LE(begin, published[i].what.time_ns);
    EXPECT_LE(published[i].what.time_ns, taken[i].what.time_ns);
    EXPECT_LE(taken[i].what.time_ns, end);
  }
  EXPECT_EQ(observer.topic_of(published[0].what.stream), "/traced");
  const std::vector<std::string> topics = observer.topics();  // of other tests, too: a process keeps names
  EXPECT_EQ(std::count(topics.begin(), topics.end(), "/traced"), 1);
  EXPECT_EQ(observer.thread_of(published[0]).thread, ::gettid());
  EXPECT_FALSE(observer.thread_of(published[0]).name.empty());
  EXPECT_EQ(observer.processes()[0].overwritten, 0U);
  EXPECT_EQ(observer.processes()[0].malformed, 0U);
}

TEST_F(TraceObserverTest, DrainsWhileItAsksProcesses) {
  cardan::Publisher out{kTraced};
  TraceObserver observer;
  out.publish({1});
  std::vector<TracedEvent> events;
  int calls = 0;
  observer.refresh([&] {
    ++calls;
    observer.drain(events);
  });
  EXPECT_EQ(calls, 1) << "one process";
  EXPECT_EQ(of_kind(events, TraceKind::Publish).size(), 1U);
}

TEST_F(TraceObserverTest, MarksGaps) {
  cardan::Publisher out{kTraced};
  TraceObserver observer;
  std::vector<TracedEvent> events;
  out.publish({1});
  observer.drain(events);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_FALSE(events[0].after_gap);
  for (std::uint64_t i = 0; i <= cardan::layout::kTraceRingEvents; ++i) out.publish({i});
  events.clear();
  observer.drain(events);
  const auto published = of_kind(events, TraceKind::Publish);
  EXPECT_EQ(observer.processes()[0].overwritten, 2U);
  ASSERT_EQ(published.size(), cardan::layout::kTraceRingEvents - 1);
  EXPECT_TRUE(published[0].after_gap);
  EXPECT_FALSE(published[1].after_gap);
}

TEST_F(TraceObserverTest, SeesLossesAndSleeps) {
  cardan::Publisher out{kTraced};
  cardan::Subscriber in{kTraced};
  TraceObserver observer;
  for (std::uint64_t i = 1; i <= 10; ++i) out.publish({i});
  while (in.take()) {
  }
  EXPECT_FALSE(in.wait(5ms));
  std::vector<TracedEvent> events;
  observer.drain(events);
  const auto losses = of_kind(events, TraceKind::Loss);
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_EQ(losses[0].what.sequence, 7U);
  EXPECT_EQ(losses[0].what.argument, 6U);
  const auto sleeps = of_kind(events, TraceKind::Woken);
  ASSERT_FALSE(sleeps.empty());
  EXPECT_GE(sleeps.back().what.time_ns - static_cast<std::int64_t>(sleeps.front().what.argument), 4'000'000);
}

TEST_F(TraceObserverTest, TracingEndsWithIt) {
  cardan::Publisher out{kTraced};
  {
    const TraceObserver observer;
    EXPECT_TRUE(trace::on());
    {
      const TraceObserver another;
    }
    std::this_thread::sleep_for(20ms);
    EXPECT_TRUE(trace::on()) << "one of two is left";
  }
  for (int i = 0; i < 5000 && trace::on(); ++i) std::this_thread::sleep_for(1ms);
  EXPECT_FALSE(trace::on());
}

TEST_F(TraceObserverTest, TracingEndsWhenItsProcessDies) {
  cardan::Publisher out{kTraced};
  const std::string socket = cardan::test::sockets_in(cardan::test::run_directory() + "/" + domain_).at(0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const cardan::test::RawPeer peer(socket);
    if (!peer.hello()) ::_exit(1);
    peer.send(cardan::detail::handshake::Trace{.id = 1});
    if (!peer.receive_op("traced")) ::_exit(2);
    for (;;) ::pause();
  }
  for (int i = 0; i < 5000 && !trace::on(); ++i) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(trace::on());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  for (int i = 0; i < 5000 && trace::on(); ++i) std::this_thread::sleep_for(1ms);
  EXPECT_FALSE(trace::on());
}

TEST_F(TraceObserverTest, ThePastIsWhatTheRingsStillHave) {
  cardan::Publisher out{kTraced};
  {
    const TraceObserver before;
    for (std::uint64_t i = 1; i <= 3; ++i) out.publish({i});
  }
  std::vector<TracedEvent> events;
  TraceObserver from_now;
  from_now.drain(events);
  EXPECT_TRUE(of_kind(events, TraceKind::Publish).empty());
  TraceObserver with_past({}, true);
  with_past.drain(events);
  EXPECT_GE(of_kind(events, TraceKind::Publish).size(), 3U);
}

/// A process that hands over whatever area it is told to.
class HostileTraced {
 public:
  HostileTraced(const std::string& domain, std::function<void(std::byte*)> spoil, std::uint64_t bytes,
                std::uint64_t said)
      : area_("hostile", bytes), said_(said) {
    area_.commit(0, bytes);
    auto* header = new (area_.data()) cardan::layout::TraceHeader{};
    header->magic = cardan::layout::kTraceMagic;
    header->version = cardan::layout::kTraceVersion;
    header->rings = cardan::layout::kTraceRings;
    header->ring_events = cardan::layout::kFewestTraceRingEvents;
    header->area_bytes = bytes;
    header->committed.store(cardan::layout::kTraceRings);
    spoil_ = std::move(spoil);
    listener_ = cardan::socket::listen_at(cardan::test::run_directory() + "/" + domain + "/p.0123456789abcdef");
    thread_ = std::thread([this] { serve(); });
  }
  ~HostileTraced() {
    stop_ = true;
    thread_.join();
  }
  HostileTraced(const HostileTraced&) = delete;
  HostileTraced& operator=(const HostileTraced&) = delete;
  void spoil() { spoil_(area_.data()); }
  /// From its return on, it answers or leaves requests where they are.
  void answer(bool yes) {
    answers_ = yes;
    for (const std::uint64_t before = rounds_; rounds_ < before + 2;) std::this_thread::sleep_for(1ms);
  }

 private:
  void serve() {
    std::vector<cardan::test::RawPeer> peers;
    while (!stop_) {
      if (cardan::Fd fd = cardan::socket::accept_from(listener_.get())) {
        peers.emplace_back(std::move(fd));
        peers.back().send(cardan::detail::handshake::Hello{.pid = 1, .name = "hostile"});
      }
      ++rounds_;
      if (!answers_) std::this_thread::sleep_for(1ms);
      for (const auto& peer : peers) {
        if (!answers_) break;
        const auto message = peer.receive(1ms);
        if (!message || message->text.find("\"trace\"") == std::string::npos) continue;
        cardan::detail::handshake::Traced answer{.id = cardan::test::id_of(*message), .bytes = said_};
        answer.threads.assign(100, {.ring = 1'000, .owner = 1'000, .thread = -1, .name = "x"});
        answer.names.assign(10, {.number = 1, .stream = true, .of = 5, .text = "\x1b[2J"});
        answer.next = UINT64_MAX;
        peer.send(answer, {area_.read_only_fd()});
      }
    }
  }

  cardan::detail::Area area_;
  std::uint64_t said_;
  std::function<void(std::byte*)> spoil_;
  cardan::Fd listener_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> answers_{true};
  std::atomic<std::uint64_t> rounds_{0};
  std::thread thread_;
};

constexpr std::uint64_t kSmallArea =
    cardan::layout::trace_area_bytes(cardan::layout::kTraceRings, cardan::layout::kFewestTraceRingEvents);

TEST_F(TraceObserverTest, AHostileAreaIsBounded) {
  HostileTraced hostile(
      domain_,
      [](std::byte* area) {
        auto* lines = reinterpret_cast<cardan::layout::TraceLine*>(area + cardan::layout::kTraceLinesOffset);
        auto* header = reinterpret_cast<cardan::layout::TraceHeader*>(area);
        header->committed.store(UINT32_MAX);
        header->rings = UINT32_MAX;
        header->ring_events = UINT32_MAX;
        for (std::uint32_t r = 0; r < cardan::layout::kTraceRings; ++r)
          lines[r].written.store(r % 3 == 0 ? UINT64_MAX : r % 3 == 1 ? 1'000'000'000 : 5);
      },
      kSmallArea, kSmallArea);
  TraceObserver observer({.timeout = 2s});
  ASSERT_EQ(observer.processes().size(), 1U);
  std::vector<TracedEvent> events;
  EXPECT_EQ(observer.drain(events), 0U);
  hostile.spoil();
  for (int i = 0; i < 3; ++i) observer.drain(events);
  EXPECT_TRUE(events.empty()) << "words of 0 are not events";
  EXPECT_GT(observer.processes()[0].malformed, 0U);
  EXPECT_EQ(observer.topic_of(5).find('\x1b'), std::string::npos);
  EXPECT_EQ(observer.thread_of(TracedEvent{}).thread, 0);
}

TEST_F(TraceObserverTest, ALateAnswerEndsNothing) {
  HostileTraced busy(domain_, [](std::byte*) {}, kSmallArea, kSmallArea);
  TraceObserver observer({.timeout = 2s});
  ASSERT_EQ(observer.processes().size(), 1U);
  busy.answer(false);
  for (int i = 0; i < 3; ++i) {
    observer.refresh();
    EXPECT_TRUE(observer.processes()[0].silent);
    EXPECT_FALSE(observer.processes()[0].ended);
  }
  busy.answer(true);
  for (int i = 0; i < 5000 && observer.processes()[0].silent; ++i) {
    std::this_thread::sleep_for(1ms);
    observer.refresh();
  }
  EXPECT_FALSE(observer.processes()[0].silent);
  EXPECT_FALSE(observer.processes()[0].ended);
}

TEST_F(TraceObserverTest, AnAreaOfAnotherSizeIsRefused) {
  for (const std::uint64_t said : {std::uint64_t{0}, kSmallArea - 1, kSmallArea + 4096, UINT64_MAX}) {
    const HostileTraced hostile(domain_, [](std::byte*) {}, kSmallArea, said);
    const TraceObserver observer({.timeout = 2s});
    EXPECT_TRUE(observer.processes().empty());
    EXPECT_EQ(observer.problems().size(), 1U);
  }
}

TEST_F(TraceObserverTest, ADrainTakesWhatThereIsRoomFor) {
  cardan::Publisher out{kTraced};
  TraceObserver observer;
  for (std::uint64_t i = 1; i <= 10; ++i) out.publish({i});
  std::vector<TracedEvent> events;
  cardan::detail::TraceRoom room{.all = 3};
  EXPECT_EQ(observer.drain(events, room), 3U);
  EXPECT_EQ(room.all, 0U);
  EXPECT_EQ(observer.drain(events, room), 0U);
  observer.drain(events);
  const auto published = of_kind(events, TraceKind::Publish);
  ASSERT_EQ(published.size(), 10U);
  EXPECT_EQ(published[9].what.sequence, 10U);
  EXPECT_EQ(observer.processes()[0].overwritten, 0U);
}

TEST_F(TraceObserverTest, EventsAtImpossibleTimesAreRefused) {
  const std::int64_t now = cardan::steady_now(), hour = 3'600'000'000'000;
  HostileTraced hostile(
      domain_,
      [now](std::byte* area) {
        auto* words = reinterpret_cast<cardan::Atomic<std::uint64_t>*>(area + cardan::layout::kTraceRingsOffset);
        std::uint64_t written = 0;
        for (const std::int64_t time : {now + hour, now, now - hour, (std::int64_t{1} << 61) - 1, now}) {
          const bool asleep = written == 4;  // until it woke, from later on
          for (const std::uint64_t word :
               cardan::layout::pack({.time_ns = time,
                                     .stream = 1,
                                     .sequence = 1,
                                     .argument = asleep ? static_cast<std::uint64_t>(now + hour) : 0,
                                     .kind = asleep ? TraceKind::Woken : TraceKind::Publish}))
            (words++)->store(word);
          ++written;
        }
        reinterpret_cast<cardan::layout::TraceLine*>(area + cardan::layout::kTraceLinesOffset)->written.store(written);
      },
      kSmallArea, kSmallArea);
  TraceObserver observer({.timeout = 20s});
  ASSERT_EQ(observer.processes().size(), 1U);
  hostile.spoil();
  std::vector<TracedEvent> events;
  observer.drain(events);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].what.time_ns, now);
  EXPECT_TRUE(events[0].after_gap);
  EXPECT_EQ(observer.processes()[0].malformed, 4U);
}

TEST_F(TraceObserverTest, AnEndedProcessCostsNothing) {
  const auto maps = [] {
    std::ifstream lines("/proc/self/maps");
    int count = 0;
    for (std::string line; std::getline(lines, line);) count += line.find("hostile") != std::string::npos ? 1 : 0;
    return count;
  };
  TraceObserver observer({.timeout = 20s});
  {
    const HostileTraced ends(domain_, [](std::byte*) {}, kSmallArea, kSmallArea);
    observer.refresh();
    ASSERT_EQ(observer.processes().size(), 1U);
    EXPECT_GE(maps(), 1);
  }
  observer.refresh();
  EXPECT_TRUE(observer.processes()[0].ended);
  std::vector<TracedEvent> events;
  observer.drain(events);
  EXPECT_EQ(maps(), 0);
  EXPECT_EQ(observer.thread_of(TracedEvent{}).thread, 0);
}

TEST_F(TraceObserverTest, AProcessThatDidNotAnswerIsAskedAgain) {
  HostileTraced busy(domain_, [](std::byte*) {}, kSmallArea, kSmallArea);
  busy.answer(false);
  TraceObserver observer({.timeout = 100ms});
  EXPECT_TRUE(observer.processes().empty());
  EXPECT_EQ(observer.problems().size(), 1U);
  busy.answer(true);
  for (int i = 0; i < 600 && observer.processes().empty(); ++i) {
    std::this_thread::sleep_for(100ms);
    observer.refresh();
  }
  EXPECT_EQ(observer.processes().size(), 1U);
  EXPECT_TRUE(observer.problems().empty());
}

TEST_F(TraceObserverTest, AForkedChildTracesNothing) {
  cardan::Publisher out{kTraced};
  TraceObserver observer;
  out.publish({1});
  const pid_t child = ::fork();
  if (child == 0) {
    trace::note(TraceKind::Take, 1, 1);  // its ring is not mapped here
    std::vector<TracedEvent> events;
    ::_exit(observer.drain(events) == 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
