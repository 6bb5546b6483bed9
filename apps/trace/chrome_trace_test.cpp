// SPDX-License-Identifier: Apache-2.0
#include "apps/trace/chrome_trace.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace cardan::apps {
namespace {

using detail::TracedEvent;
using layout::TraceKind;
using nlohmann::json;

TraceWords chrome_words() {
  return {
      .process =
          [](std::uint32_t process) {
            // From the eighth on, they are of another pid namespace.
            return TraceWords::Process{.pid = process < 8 ? 100 + static_cast<int>(process) : 0, .name = "p\""};
          },
      .thread =
          [](const TracedEvent& event) {
            return event.ring == 9 ? TraceWords::Thread{} : TraceWords::Thread{.id = 1000 + event.ring, .name = "main"};
          },
      .topic = [](std::uint64_t stream) { return stream == 7 ? std::string("/camera") : std::string(); },
      .callback = [](std::uint32_t,
                     std::uint64_t number) { return number == 3 ? std::string("detector: image") : std::string(); }};
}

TracedEvent traced(std::uint32_t process, std::uint32_t ring, std::int64_t time, TraceKind kind, std::uint64_t stream,
                   std::uint64_t sequence, std::uint64_t argument = 0) {
  return {.what = {.time_ns = time, .stream = stream, .sequence = sequence, .argument = argument, .kind = kind},
          .process = process,
          .ring = ring};
}

struct WrittenChrome {
  ChromeTrace numbers;
  json all;
};
WrittenChrome chrome_of(std::vector<TracedEvent> events) {
  trace::sort_by_time(events);
  std::string text;
  const ChromeTrace numbers =
      write_chrome_trace(events, chrome_words(), [&](std::string_view piece) { text += piece; });
  return {numbers, json::parse(text).at("traceEvents")};
}

std::vector<json> chrome_phase(const json& all, const std::string& phase) {
  std::vector<json> found;
  for (const json& one : all)
    if (one.at("ph") == phase) found.push_back(one);
  return found;
}

TEST(ChromeTrace, NoEventsAreAValidFile) {
  const WrittenChrome written = chrome_of({});
  EXPECT_TRUE(written.all.empty());
  EXPECT_EQ(written.numbers.events, 0U);
}

TEST(ChromeTrace, AnArrowLeadsFromThePublicationToTheCallback) {
  const WrittenChrome written = chrome_of({
      traced(1, 2, 5'000, TraceKind::Begin, 7, 1, 3),
      traced(1, 2, 9'250, TraceKind::End, 0, 0, 3),
      traced(0, 1, 1'000, TraceKind::Publish, 7, 1, 64),
      traced(1, 2, 3'000, TraceKind::Take, 7, 1),
      traced(1, 2, 4'000, TraceKind::Queue, 7, 1, 3),
  });
  EXPECT_EQ(written.numbers.events, 5U);
  EXPECT_EQ(written.numbers.arrows, 1U) << "to the callback, not to the take";
  EXPECT_EQ(written.numbers.without_publication, 0U);
  const auto begins = chrome_phase(written.all, "s");
  const auto ends = chrome_phase(written.all, "f");
  ASSERT_EQ(begins.size(), 1U);
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(begins[0].at("id"), ends[0].at("id"));
  EXPECT_EQ(begins[0].at("pid"), 100);
  EXPECT_EQ(begins[0].at("tid"), 1001);
  EXPECT_EQ(begins[0].at("ts"), 0.0);
  EXPECT_EQ(ends[0].at("pid"), 101);
  EXPECT_EQ(ends[0].at("ts"), 4.0);
  const auto callbacks = chrome_phase(written.all, "B");
  ASSERT_EQ(callbacks.size(), 1U);
  EXPECT_EQ(callbacks[0].at("name"), "detector: image");
  EXPECT_EQ(callbacks[0].at("args").at("topic"), "/camera");
  EXPECT_EQ(chrome_phase(written.all, "E").at(0).at("ts"), 8.25);
  EXPECT_EQ(chrome_phase(written.all, "M").size(), 4U) << "each process and thread once";
}

TEST(ChromeTrace, ProcessesOfAnotherPidNamespaceHaveTracksOfTheirOwn) {
  const WrittenChrome written = chrome_of({
      traced(0, 1, 1'000, TraceKind::Publish, 7, 1, 64),
      traced(8, 1, 2'000, TraceKind::Take, 7, 1),
      traced(9, 1, 3'000, TraceKind::Take, 7, 1),
      traced(9, 2, 4'000, TraceKind::Take, 7, 2),
  });
  std::multiset<int> processes;
  for (const json& name : chrome_phase(written.all, "M"))
    if (name.at("name") == "process_name") processes.insert(name.at("pid").get<int>());
  EXPECT_EQ(processes, (std::multiset<int>{100, 1'000'000'008, 1'000'000'009}));
  std::set<int> takes;
  for (const json& take : chrome_phase(written.all, "X")) takes.insert(take.at("pid").get<int>());
  EXPECT_TRUE(takes.contains(1'000'000'008) && takes.contains(1'000'000'009));
}

TEST(ChromeTrace, ATakeWithoutACallbackHasTheArrow) {
  const WrittenChrome written =
      chrome_of({traced(0, 1, 1'000, TraceKind::Publish, 7, 1, 64), traced(1, 2, 3'000, TraceKind::Take, 7, 1),
                 traced(1, 2, 4'000, TraceKind::Take, 7, 2)});
  EXPECT_EQ(written.numbers.arrows, 1U);
  EXPECT_EQ(written.numbers.without_publication, 1U);
}

TEST(ChromeTrace, APublicationOnAReadSampleHasTheArrow) {
  const WrittenChrome written = chrome_of({
      traced(0, 1, 1'000, TraceKind::Publish, 7, 1, 64),
      traced(1, 2, 2'000, TraceKind::Queue, 7, 1, 3),  // a timer reads it
      traced(1, 2, 3'000, TraceKind::Begin, 0, 0, 3),
      traced(1, 2, 4'000, TraceKind::Publish, 8, 1, 64),
      traced(1, 2, 4'000, TraceKind::Rests, 7, 1, 1),
      traced(1, 2, 5'000, TraceKind::End, 0, 0, 3),
      traced(1, 2, 6'000, TraceKind::Begin, 7, 1, 3),  // and another callback is called for it
      traced(1, 2, 7'000, TraceKind::Publish, 8, 2, 64),
      traced(1, 2, 7'000, TraceKind::Rests, 7, 1, 2),
  });
  const auto ends = chrome_phase(written.all, "f");
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends[0].at("ts"), 3.0) << "the timer's publication";
  EXPECT_EQ(ends[1].at("ts"), 5.0) << "the other callback, and not its publication, too";
}

TEST(ChromeTrace, AnEndWhoseBeginWasNotTracedIsLeftOut) {
  const WrittenChrome written =
      chrome_of({traced(0, 1, 1'000, TraceKind::End, 0, 0, 3), traced(0, 1, 2'000, TraceKind::Begin, 0, 0, 3),
                 traced(0, 1, 3'000, TraceKind::End, 0, 0, 3)});
  EXPECT_EQ(chrome_phase(written.all, "B").size(), 1U);
  EXPECT_EQ(chrome_phase(written.all, "E").size(), 1U);
}

TEST(ChromeTrace, ACallbackWhoseEndWasOverwrittenEnds) {
  std::vector<TracedEvent> events{traced(0, 1, 1'000, TraceKind::Begin, 0, 0, 3),
                                  traced(0, 1, 5'000, TraceKind::Begin, 0, 0, 3),
                                  traced(0, 1, 6'000, TraceKind::End, 0, 0, 3)};
  events[1].after_gap = true;
  const auto ends = chrome_phase(chrome_of(std::move(events)).all, "E");
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends[0].at("ts"), 4.0);
}

TEST(ChromeTrace, ASleepIsASlice) {
  const WrittenChrome written = chrome_of({traced(0, 1, 10'000, TraceKind::Woken, 0, 0, 4'000)});
  const auto slices = chrome_phase(written.all, "X");
  ASSERT_EQ(slices.size(), 1U);
  EXPECT_EQ(slices[0].at("ts"), 0.0);
  EXPECT_EQ(slices[0].at("dur"), 6.0);
}

TEST(ChromeTrace, UnknownNamesAreNumbers) {
  const WrittenChrome written =
      chrome_of({traced(0, 9, 1'000, TraceKind::Drop, 255, 3, 8), traced(0, 9, 2'000, TraceKind::Loss, 255, 5, 1)});
  const auto slices = chrome_phase(written.all, "X");
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_EQ(slices[0].at("name"), "drop stream 00000000000000ff");
  EXPECT_EQ(slices[0].at("args").at("callback"), "callback 8");
  EXPECT_EQ(slices[1].at("args").at("samples"), 1);
  EXPECT_EQ(slices[0].at("tid"), 1'000'002'304);
}

}  // namespace
}  // namespace cardan::apps
