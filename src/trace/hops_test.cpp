// SPDX-License-Identifier: Apache-2.0
#include "src/trace/hops.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cardan::trace {
namespace {

using detail::TracedEvent;
using layout::TraceKind;

constexpr std::uint32_t kForeign = 20;  ///< from here on, processes are of another user
constexpr std::uint64_t kCamera = 7;
constexpr std::uint64_t kObjects = 8;
constexpr std::uint64_t kMoreObjects = 10;  ///< of another process
constexpr std::uint64_t kCommand = 9;

TraceWords hop_words() {
  return {.process =
              [](std::uint32_t process) {
                return TraceWords::Process{
                    .pid = 1, .name = "p" + std::to_string(process), .foreign = process >= kForeign};
              },
          .thread = [](const TracedEvent&) { return TraceWords::Thread{}; },
          .topic =
              [](std::uint64_t stream) {
                return stream == kCamera                              ? std::string("/camera")
                       : stream == kObjects || stream == kMoreObjects ? std::string("/objects")
                       : stream == 6                                  ? std::string("/lidar")
                                                                      : std::string("/command");
              },
          .callback =
              [](std::uint32_t, std::uint64_t number) {
                return (number < 10 ? "callback " : "planner: ") + std::to_string(number);
              }};
}

class HopTrace {
 public:
  HopTrace& add(std::uint32_t process, std::int64_t time, TraceKind kind, std::uint64_t stream = 0,
                std::uint64_t sequence = 0, std::uint64_t argument = 0) {
    events_.push_back(
        {.what = {.time_ns = time, .stream = stream, .sequence = sequence, .argument = argument, .kind = kind},
         .process = process,
         .ring = process});
    return *this;
  }
  HopTrace& begin(std::uint32_t process, std::int64_t time, std::uint64_t callback, std::uint32_t cpu) {
    add(process, time, TraceKind::Begin, 0, 0, callback);
    events_.back().what.cpu = cpu;
    return *this;
  }
  [[nodiscard]] std::vector<RanCallback> meanwhile(const HopTimes& hop) const {
    const TraceWords words = hop_words();
    return RanCallbacks(events_, words).meanwhile(hop, "");
  }
  [[nodiscard]] std::vector<RanCallback> ran_on(std::uint32_t cpu, std::int64_t from, std::int64_t to,
                                                const std::string& but = {}) {
    sort_by_time(events_);
    const TraceWords words = hop_words();
    return RanCallbacks(events_, words).on(cpu, from, to, but);
  }
  /// Events of the thread before the last one were overwritten.
  HopTrace& after_gap() {
    events_.back().after_gap = true;
    return *this;
  }
  /// /camera n → detector (process 1) → /objects n → decision (process 2) → /command n.
  HopTrace& frame(std::uint64_t n, std::int64_t at, std::int64_t detector_waits = 0) {
    const std::int64_t begun = at + 20 + detector_waits;
    add(0, at, TraceKind::Publish, kCamera, n);
    add(1, at + 10, TraceKind::Take, kCamera, n).add(1, at + 11, TraceKind::Queue, kCamera, n, 1);
    add(1, begun, TraceKind::Begin, kCamera, n, 1);
    add(1, begun + 100, TraceKind::Publish, kObjects, n).add(1, begun + 100, TraceKind::Rests, kCamera, n, n);
    add(1, begun + 110, TraceKind::End, 0, 0, 1);
    add(2, begun + 103, TraceKind::Queue, kObjects, n, 2).add(2, begun + 105, TraceKind::Begin, kObjects, n, 2);
    add(2, begun + 135, TraceKind::Publish, kCommand, n).add(2, begun + 135, TraceKind::Rests, kObjects, n, n);
    return add(2, begun + 140, TraceKind::End, 0, 0, 2);
  }
  TracedChain find(const std::string& from = "/camera", const std::string& to = "/command") {
    sort_by_time(events_);
    return find_chain(events_, hop_words(), from, to);
  }

 private:
  std::vector<TracedEvent> events_;
};

TEST(Hops, TimesOfHopsAddUp) {
  const TracedChain chain = HopTrace().frame(1, 1'000).find();
  ASSERT_EQ(chain.ways.size(), 1U);
  const TracedWay& way = chain.ways[0];
  EXPECT_EQ(way.hops, (std::vector<TracedWay::Hop>{{"callback 1", "/objects"}, {"callback 2", "/command"}}));
  ASSERT_EQ(way.frames.size(), 1U);
  const TracedFrame& frame = way.frames[0];
  EXPECT_EQ(frame.sequence, 1U);
  ASSERT_EQ(frame.hops.size(), 2U);
  EXPECT_EQ(frame.hops[0].transport, 11);
  EXPECT_EQ(frame.hops[0].waiting, 9);
  EXPECT_EQ(frame.hops[0].running, 100);
  EXPECT_EQ(frame.hops[1].transport, 3);
  EXPECT_EQ(frame.hops[1].waiting, 2);
  EXPECT_EQ(frame.hops[1].running, 30);
  EXPECT_EQ(frame.all(), 155) << "from the first publication to the last one";
}

TEST(Hops, APublicationInAnotherProcessesStreamIsLeftOut) {
  const std::uint32_t thief = kForeign;
  HopTrace trace;
  // It writes first, and rests the command on a picture that never was.
  trace.add(thief, 900, TraceKind::Publish, kCamera, 1).add(thief, 901, TraceKind::Take, kCamera, 1);
  trace.add(thief, 902, TraceKind::Publish, kCommand, 1).add(thief, 902, TraceKind::Rests, kCamera, 1, 1);
  const TracedChain chain = trace.frame(1, 1'000).find();
  EXPECT_EQ(chain.disputed, 2U);
  ASSERT_EQ(chain.ways.size(), 1U);
  ASSERT_EQ(chain.ways[0].frames.size(), 1U);
  EXPECT_EQ(chain.ways[0].frames[0].first_ns, 1'000);
  EXPECT_EQ(chain.ways[0].frames[0].all(), 155);
  EXPECT_EQ(chain.from_others, 0U);
}

TEST(Hops, OfTwoProcessesOfAnotherUserTheFirstHasTheStream) {
  HopTrace trace;
  trace.add(kForeign, 1'000, TraceKind::Publish, kCommand, 1);
  trace.add(kForeign + 1, 1'001, TraceKind::Publish, kCommand, 2);
  const TracedChain chain = trace.find();
  EXPECT_EQ(chain.disputed, 1U);
  EXPECT_EQ(chain.from_others, 1U);
}

TEST(Hops, ThePartOfAWay) {
  const TracedChain chain = HopTrace().frame(1, 1'000).find("/objects", "/command");
  ASSERT_EQ(chain.ways.size(), 1U);
  EXPECT_EQ(chain.ways[0].hops.size(), 1U);
}

TEST(Hops, EachCallbackHasItsQueue) {
  HopTrace trace;
  trace.frame(1, 1'000);
  // Another thread of the detector's process has a queue of this topic, too, and took the sample first.
  trace.add(1, 1'002, TraceKind::Take, kCamera, 1).add(1, 1'003, TraceKind::Queue, kCamera, 1, 4);
  const TracedChain chain = trace.find();
  ASSERT_EQ(chain.ways.size(), 1U);
  EXPECT_EQ(chain.ways[0].frames.at(0).hops.at(0).transport, 11);
}

TEST(Hops, AReadSampleArrivedInAQueueOfTheSameComponent) {
  HopTrace trace;
  trace.add(0, 1'000, TraceKind::Publish, kCamera, 1);
  trace.add(1, 1'003, TraceKind::Queue, kCamera, 1, 4).add(1, 1'020, TraceKind::Queue, kCamera, 1, 11);
  trace.add(1, 1'100, TraceKind::Begin, 0, 0, 12);  // a timer of the planner, as the queue 11
  trace.add(1, 1'150, TraceKind::Publish, kObjects, 1).add(1, 1'150, TraceKind::Rests, kCamera, 1, 1);
  const TracedChain chain = trace.find("/camera", "/objects");
  ASSERT_EQ(chain.ways.size(), 1U);
  const TracedFrame& frame = chain.ways[0].frames.at(0);
  EXPECT_EQ(frame.first_sequence, 1U);
  EXPECT_EQ(frame.first_ns, 1'000);
  EXPECT_EQ(frame.hops.at(0).sequence, 1U);
  EXPECT_EQ(frame.hops.at(0).transport, 20);
  EXPECT_EQ(frame.hops.at(0).waiting, 80);
  EXPECT_EQ(frame.hops.at(0).running, 50);
}

TEST(Hops, FramesThatAreNotWholeAreCounted) {
  HopTrace trace;
  trace.frame(1, 1'000);
  trace.add(2, 5'000, TraceKind::Publish, kCommand, 50);  // on nothing
  trace.add(2, 6'000, TraceKind::Publish, kCommand, 51).add(2, 6'000, TraceKind::Rests, kObjects, 99, 51);
  const TracedChain chain = trace.find();
  ASSERT_EQ(chain.ways.size(), 1U);
  EXPECT_EQ(chain.from_others, 1U);
  EXPECT_EQ(chain.incomplete, 1U) << "its cause was published before the trace";
}

TEST(Hops, ACallbackThatBeganBeforeTheTraceIsNotTraced) {
  HopTrace trace;
  trace.frame(1, 1'000);
  trace.add(0, 2'000, TraceKind::Publish, kCamera, 2).add(3, 2'010, TraceKind::Queue, kCamera, 2, 1);
  trace.add(3, 2'100, TraceKind::Publish, kMoreObjects, 2).add(3, 2'100, TraceKind::Rests, kCamera, 2, 2);
  EXPECT_EQ(trace.find("/camera", "/objects").ways.size(), 2U) << "as of a plain program";
  trace.add(3, 2'200, TraceKind::End, 0, 0, 1);
  const TracedChain chain = trace.find("/camera", "/objects");
  EXPECT_EQ(chain.ways.size(), 1U);
  EXPECT_EQ(chain.incomplete, 1U);
}

TEST(Hops, AfterAGapNothingIsKnownOfTheCallback) {
  HopTrace trace;
  trace.add(1, 100, TraceKind::Begin, kCamera, 1, 1);
  trace.frame(2, 1'000);
  trace.add(0, 2'000, TraceKind::Publish, kCamera, 3);
  trace.add(1, 2'010, TraceKind::Queue, kCamera, 3, 1).add(1, 2'020, TraceKind::Begin, kCamera, 3, 1);
  trace.add(1, 3'000, TraceKind::Publish, kObjects, 9).after_gap();
  trace.add(1, 3'000, TraceKind::Rests, kCamera, 3, 9).add(1, 3'100, TraceKind::End, 0, 0, 1);
  const TracedChain chain = trace.find("/camera", "/objects");
  ASSERT_EQ(chain.ways.size(), 1U);
  EXPECT_EQ(chain.ways[0].frames.size(), 1U);
  EXPECT_EQ(chain.incomplete, 1U) << "by a later callback than the one that began";
}

TEST(Hops, ACircleEnds) {
  HopTrace trace;
  trace.add(1, 1'000, TraceKind::Publish, kObjects, 1).add(1, 1'000, TraceKind::Rests, kObjects, 1, 1);
  trace.add(1, 900, TraceKind::Queue, kObjects, 1, 1);
  EXPECT_EQ(trace.find("/camera", "/objects").incomplete, 1U);
}

TEST(Hops, StampsThatOverlapGiveNoNegativeTime) {
  HopTrace trace;
  trace.add(0, 1'000, TraceKind::Publish, kCamera, 1).add(1, 990, TraceKind::Take, kCamera, 1);
  trace.add(1, 1'100, TraceKind::Publish, kObjects, 1).add(1, 1'100, TraceKind::Rests, kCamera, 1, 1);
  const TracedChain chain = trace.find("/camera", "/objects");
  ASSERT_EQ(chain.ways.size(), 1U);
  const HopTimes& hop = chain.ways[0].frames.at(0).hops.at(0);
  EXPECT_EQ(hop.transport, 0);
  EXPECT_EQ(hop.waiting, 0);
  EXPECT_EQ(hop.running, 100);
  EXPECT_EQ(chain.ways[0].hops.at(0).by, "p1") << "a plain program";
}

TEST(Hops, TheSamplesThatACallbackReadsAreOnTheWay) {
  HopTrace trace;
  constexpr std::uint64_t kLidar = 6;
  trace.add(0, 1'000, TraceKind::Publish, kCamera, 1).add(1, 1'010, TraceKind::Queue, kCamera, 1, 1);
  trace.add(0, 1'100, TraceKind::Publish, kCamera, 2).add(1, 1'110, TraceKind::Queue, kCamera, 2, 1);
  trace.add(0, 1'500, TraceKind::Publish, kLidar, 1).add(1, 1'520, TraceKind::Queue, kLidar, 1, 2);
  trace.add(1, 1'530, TraceKind::Begin, kLidar, 1, 2);
  trace.add(1, 1'540, TraceKind::Read, kCamera, 2).add(1, 1'541, TraceKind::Read, kCamera, 1);
  trace.add(1, 1'600, TraceKind::Publish, kCommand, 1).add(1, 1'600, TraceKind::Rests, kLidar, 1, 1);
  trace.add(1, 1'610, TraceKind::End, 0, 0, 2).add(1, 1'700, TraceKind::Begin, 0, 0, 3);
  trace.add(1, 1'710, TraceKind::Publish, kCommand, 2).add(1, 1'720, TraceKind::End, 0, 0, 3);
  const TracedChain camera = trace.find();
  ASSERT_EQ(camera.ways.size(), 1U);
  ASSERT_EQ(camera.ways[0].frames.size(), 1U) << "the next callback has read nothing";
  EXPECT_EQ(camera.from_others, 1U);
  const TracedFrame& frame = camera.ways[0].frames[0];
  EXPECT_EQ(frame.all(), 600) << "from the older one of the two pictures";
  EXPECT_EQ(frame.hops[0].waiting, 520);
  EXPECT_EQ(frame.hops[0].running, 70);
  const TracedChain lidar = trace.find("/lidar");
  ASSERT_EQ(lidar.ways.size(), 1U);
  EXPECT_EQ(lidar.ways[0].frames.at(0).all(), 100);
}

TEST(Hops, TwoGroundsOfOnePictureWaitedForTheLaterOne) {
  constexpr std::uint64_t kLanes = 6;
  for (const bool lanes_first : {false, true}) {
    HopTrace trace;
    trace.add(0, 1'000, TraceKind::Publish, kCamera, 1);
    trace.add(1, 1'010, TraceKind::Queue, kCamera, 1, 1).add(1, 1'020, TraceKind::Begin, kCamera, 1, 1);
    const std::uint64_t first = lanes_first ? kLanes : kObjects, second = lanes_first ? kObjects : kLanes;
    trace.add(1, 1'100, TraceKind::Publish, first, 1).add(1, 1'100, TraceKind::Rests, kCamera, 1, 1);
    trace.add(1, 1'400, TraceKind::Publish, second, 1).add(1, 1'400, TraceKind::Rests, kCamera, 1, 1);
    trace.add(1, 1'410, TraceKind::End, 0, 0, 1);
    trace.add(1, 1'110, TraceKind::Queue, first, 1, 2).add(1, 1'410, TraceKind::Queue, second, 1, 2);
    trace.add(1, 1'420, TraceKind::Begin, kObjects, 1, 2).add(1, 1'421, TraceKind::Read, kLanes, 1);
    trace.add(1, 1'500, TraceKind::Publish, kCommand, 1).add(1, 1'500, TraceKind::Rests, kObjects, 1, 1);
    const TracedChain chain = trace.find();
    ASSERT_EQ(chain.ways.size(), 1U);
    EXPECT_EQ(chain.ways[0].hops.at(0).to, lanes_first ? "/objects" : "/lidar") << "stream 6";
    EXPECT_EQ(chain.ways[0].frames.at(0).all(), 500);
  }
}

TEST(Hops, ALoanNamesSamplesOfItsOwn) {
  HopTrace trace;
  trace.add(0, 1'000, TraceKind::Publish, kCamera, 1).add(1, 1'010, TraceKind::Take, kCamera, 1);
  trace.add(1, 1'100, TraceKind::Read, kCamera, 1, kCommand);
  trace.add(1, 1'200, TraceKind::Publish, kObjects, 1).add(1, 1'300, TraceKind::Publish, kCommand, 1);
  trace.add(1, 1'400, TraceKind::Publish, kCommand, 2);
  const TracedChain command = trace.find();
  ASSERT_EQ(command.ways.size(), 1U);
  EXPECT_EQ(command.ways[0].frames.size(), 1U);
  EXPECT_EQ(command.from_others, 1U) << "the second one";
  EXPECT_EQ(trace.find("/camera", "/objects").from_others, 1U);
}

TEST(Hops, CallbacksThatRanMeanwhileOnTheProcessor) {
  HopTrace trace;
  trace.add(0, 1'000, TraceKind::Publish, kCamera, 1).add(1, 1'010, TraceKind::Queue, kCamera, 1, 1);
  trace.begin(2, 500, 4, 1).add(2, 1'060, TraceKind::End, 0, 0, 4);
  trace.begin(3, 1'020, 5, 2).add(3, 1'050, TraceKind::End, 0, 0, 5);  // on another one
  trace.begin(1, 1'070, 1, 1).add(1, 1'080, TraceKind::Publish, kObjects, 1);
  trace.add(1, 1'080, TraceKind::Rests, kCamera, 1, 1).add(1, 1'090, TraceKind::End, 0, 0, 1);
  const TracedChain chain = trace.find("/camera", "/objects");
  ASSERT_EQ(chain.ways.size(), 1U);
  const std::vector<RanCallback> ran = trace.meanwhile(chain.ways[0].frames.at(0).hops.at(0));
  ASSERT_EQ(ran.size(), 1U);
  EXPECT_EQ(ran[0].name, "callback 4");
  EXPECT_EQ(ran[0].ns, 50) << "from the arrival to its end";
}

TEST(Hops, CallbacksThatRanOnAProcessorAreCutAtBothTimes) {
  HopTrace trace;
  trace.begin(2, 100, 4, 1).add(2, 250, TraceKind::End, 0, 0, 4);
  trace.begin(2, 260, 4, 1).add(2, 270, TraceKind::End, 0, 0, 4);
  trace.begin(2, 280, 5, 2).add(2, 350, TraceKind::End, 0, 0, 5);  // the same thread on another processor
  trace.begin(3, 290, 6, 1);                                       // until after the trace
  const std::vector<RanCallback> ran = trace.ran_on(1, 200, 400);
  ASSERT_EQ(ran.size(), 2U);
  EXPECT_EQ(ran[0].name, "callback 6");
  EXPECT_EQ(ran[0].ns, 110);
  EXPECT_EQ(ran[1].name, "callback 4");
  EXPECT_EQ(ran[1].ns, 60);
  EXPECT_EQ(trace.ran_on(1, 200, 400, "callback 6").size(), 1U);
  EXPECT_TRUE(trace.ran_on(1, 250, 260).empty()) << "between two";
  EXPECT_TRUE(trace.ran_on(3, 0, 400).empty());
}

TEST(Hops, ACallbackBeforeAGapRanForAnUnknownTime) {
  HopTrace trace;
  trace.begin(2, 100, 4, 1).add(2, 900, TraceKind::End, 0, 0, 5).after_gap();
  trace.begin(3, 100, 6, 1).add(3, 800, TraceKind::Publish, kObjects, 1).after_gap();
  trace.begin(4, 100, 7, 1).begin(4, 500, 8, 1).after_gap().add(4, 520, TraceKind::End, 0, 0, 8);
  const std::vector<RanCallback> ran = trace.ran_on(1, 0, 1'000);
  ASSERT_EQ(ran.size(), 1U);
  EXPECT_EQ(ran[0].name, "callback 8");
  EXPECT_EQ(ran[0].ns, 20);
}

// A hostile process can write these events. Where work grows with the square of them, such a case does not end.
TEST(Hops, AHundredThousandArrivalsOfOneSample) {
  constexpr std::uint64_t kMany = 100'000;
  HopTrace trace;
  trace.add(0, 1'000, TraceKind::Publish, kCamera, 1);
  for (std::uint64_t n = 0; n < kMany; ++n) trace.add(1, 1'010, TraceKind::Queue, kCamera, 1, 1'000 + n);
  for (std::uint64_t n = 1; n <= kMany; ++n)
    trace.add(1, 2'000, TraceKind::Publish, kObjects, n).add(1, 2'000, TraceKind::Rests, kCamera, 1, n);
  const TracedChain chain = trace.find("/camera", "/objects");
  ASSERT_EQ(chain.ways.size(), 1U);
  EXPECT_EQ(chain.ways[0].frames.size(), kMany);
  EXPECT_EQ(chain.ways[0].frames[0].hops.at(0).transport, 10);
}

TEST(Hops, OfManyArrivalsTheFirstSixtyFourCount) {
  HopTrace trace;
  trace.add(0, 1'000, TraceKind::Publish, kCamera, 1);
  // The limit is for each process.
  for (std::int64_t n = 0; n < 70; ++n)
    trace.add(1, 1'010 + n, TraceKind::Queue, kCamera, 1, 200 - static_cast<std::uint64_t>(n));
  trace.add(2, 1'500, TraceKind::Queue, kCamera, 1, 2);
  const auto publish = [&trace](std::uint32_t process, std::int64_t at, std::uint64_t callback, std::uint64_t n) {
    trace.add(process, at, TraceKind::Begin, kCamera, 1, callback);
    trace.add(process, at + 1, TraceKind::Publish, process == 1 ? kObjects : kMoreObjects, n);
    trace.add(process, at + 1, TraceKind::Rests, kCamera, 1, n).add(process, at + 2, TraceKind::End, 0, 0, callback);
  };
  publish(1, 2'000, 200 - 63, 1);
  publish(1, 2'100, 2, 2);  // of no component with a queue: the first arrival
  publish(2, 2'200, 2, 3);
  const TracedChain chain = trace.find("/camera", "/objects");
  std::vector<std::int64_t> transports(4);
  for (const TracedWay& way : chain.ways)
    for (const TracedFrame& frame : way.frames) transports.at(frame.sequence) = frame.hops.at(0).transport;
  EXPECT_EQ(transports, (std::vector<std::int64_t>{0, 10 + 63, 10, 500}));
}

TEST(Hops, FramesOfMoreThanSixtyFourWaysAreCounted) {
  constexpr std::uint64_t kMany = 20'000;
  HopTrace trace;
  trace.add(0, 1'000, TraceKind::Publish, kCamera, 1).add(1, 1'010, TraceKind::Take, kCamera, 1);
  for (std::uint64_t n = 1; n <= kMany; ++n) {
    const std::int64_t at = 2'000 + static_cast<std::int64_t>(n) * 10;
    trace.add(1, at, TraceKind::Begin, 0, 0, n).add(1, at + 1, TraceKind::Publish, kObjects, n);
    trace.add(1, at + 1, TraceKind::Rests, kCamera, 1, n).add(1, at + 2, TraceKind::End, 0, 0, n);
  }
  // A way that is known still has its frames.
  trace.add(1, 900'000, TraceKind::Begin, 0, 0, 1).add(1, 900'001, TraceKind::Publish, kObjects, kMany + 1);
  trace.add(1, 900'001, TraceKind::Rests, kCamera, 1, kMany + 1).add(1, 900'002, TraceKind::End, 0, 0, 1);
  const TracedChain chain = trace.find("/camera", "/objects");
  ASSERT_EQ(chain.ways.size(), 64U);
  EXPECT_EQ(chain.ways[0].frames.size(), 2U);
  EXPECT_EQ(chain.more_ways, kMany - 64);
  EXPECT_EQ(trace.find("/camera", "/camera").more_ways, 0U);
}

TEST(Hops, AHundredThousandCallbacksAndQuestions) {
  constexpr std::int64_t kMany = 100'000;
  std::vector<TracedEvent> events;
  const auto add = [&events](std::int64_t at, TraceKind kind, std::uint32_t ring, std::uint64_t callback) {
    events.push_back({.what = {.time_ns = at, .argument = callback, .kind = kind, .cpu = 1}, .ring = ring});
  };
  add(1, TraceKind::Begin, 1, 3);  // runs all the time
  for (std::int64_t n = 1; n <= kMany; ++n) {
    add(n * 10, TraceKind::Begin, 0, 2);
    add(n * 10 + 4, TraceKind::End, 0, 2);
  }
  const TraceWords words = hop_words();
  const RanCallbacks ran(events, words);
  std::int64_t wrong = 0;
  for (std::int64_t n = 1; n <= kMany; ++n) {
    const std::vector<RanCallback> found = ran.on(1, n * 10 + 1, n * 10 + 10, {});
    if (found.size() != 2 || found[0].ns != 9 || found[1].name != "callback 2" || found[1].ns != 3) ++wrong;
  }
  EXPECT_EQ(wrong, 0);
  const std::vector<RanCallback> all = ran.on(1, 0, kMany * 20, {});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "callback 3") << "its thread is not hidden by the other one";
  EXPECT_EQ(all[1].ns, 65'535 * 4) << "one of the 65,536 was of the other thread";
}

TEST(Hops, Percentiles) {
  EXPECT_EQ(percentile_of({}, 50), 0);
  EXPECT_EQ(percentile_of({5}, 99), 5);
  EXPECT_EQ(percentile_of({3, 1, 2}, 50), 2);
  EXPECT_EQ(percentile_of({3, 1, 2}, 100), 3);
}

}  // namespace
}  // namespace cardan::trace
