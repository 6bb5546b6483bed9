// SPDX-License-Identifier: Apache-2.0
#include "apps/trace/hops.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "apps/trace/hop_table.hpp"

namespace cardan::apps {
namespace {

using detail::TracedEvent;
using layout::TraceKind;

constexpr std::uint64_t kCamera = 7;
constexpr std::uint64_t kObjects = 8;
constexpr std::uint64_t kCommand = 9;

TraceWords hop_words() {
  return {
      .process =
          [](std::uint32_t process) { return TraceWords::Process{.pid = 1, .name = "p" + std::to_string(process)}; },
      .thread = [](const TracedEvent&) { return TraceWords::Thread{}; },
      .topic =
          [](std::uint64_t stream) {
            return stream == kCamera    ? std::string("/camera")
                   : stream == kObjects ? std::string("/objects")
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
  trace.add(3, 2'100, TraceKind::Publish, kObjects, 2).add(3, 2'100, TraceKind::Rests, kCamera, 2, 2);
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

TEST(Hops, TheTableNamesTheSlowHop) {
  HopTrace trace;
  for (std::uint64_t n = 1; n <= 20; ++n) trace.frame(n, static_cast<std::int64_t>(n) * 100'000, n == 13 ? 50'000 : 0);
  const TracedChain chain = trace.find();
  const auto found = nlohmann::json::parse(hops_json(chain, "/camera", "/command"));
  const auto& way = found.at("ways").at(0);
  EXPECT_EQ(way.at("frames"), 20);
  EXPECT_EQ(way.at("slowest").size(), 10U);
  EXPECT_EQ(way.at("slowest").at(0).at("sequence"), 13);
  EXPECT_EQ(way.at("slowest").at(0).at("slowest_hop"), 0);
  EXPECT_FALSE(way.contains("each_frame"));
  const auto each = nlohmann::json::parse(hops_json(chain, "/camera", "/command", true)).at("ways").at(0);
  const auto& frame = each.at("each_frame").at(12);
  EXPECT_EQ(frame.at("sequence"), 13);
  EXPECT_EQ(frame.at("from_sequence"), 13);
  EXPECT_EQ(frame.at("from_ns"), 1'300'000);
  EXPECT_EQ(frame.at("hops").at(0).at("sequence"), 13);
  EXPECT_EQ(frame.at("hops").at(0).at("waiting_us"), 50.009);
  double sum = 0;
  for (const auto& hop : way.at("hops")) sum += hop.at("all_us").at("mean").get<double>();
  EXPECT_NEAR(sum, way.at("all_us").at("mean").get<double>(), 1e-9) << "means add up";
  const std::string text = hop_tables(chain, "/camera", "/command");
  EXPECT_NE(text.find("20 frames"), std::string::npos) << text;
  EXPECT_NE(text.find("callback 1"), std::string::npos) << text;
}

TEST(Hops, Percentiles) {
  EXPECT_EQ(percentile_of({}, 50), 0);
  EXPECT_EQ(percentile_of({5}, 99), 5);
  EXPECT_EQ(percentile_of({3, 1, 2}, 50), 2);
  EXPECT_EQ(percentile_of({3, 1, 2}, 100), 3);
}

}  // namespace
}  // namespace cardan::apps
