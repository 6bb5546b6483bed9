// SPDX-License-Identifier: Apache-2.0
#include "demo/report/measurements.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cmath>

#include "cardan/detail/fd.hpp"

namespace cardan::street {
namespace {

constexpr std::int64_t kMs = 1'000'000;

Note received(std::uint8_t topic, std::uint64_t sequence, std::int64_t published, std::int64_t asked, std::int64_t at,
              std::uint64_t missed = 0) {
  Note n;
  n.kind = Note::Kind::Received;
  n.topic = topic;
  n.sequence = sequence;
  n.missed = missed;
  n.bytes = 1000;
  n.published = published;
  n.asked = asked;
  n.received = at;
  return n;
}

Note decided(std::uint8_t topic, std::uint64_t sequence, std::int64_t at) {
  Note n;
  n.kind = Note::Kind::Decided;
  n.topic = topic;
  n.sequence = sequence;
  n.received = at;
  return n;
}

TEST(Measurements, AFrameWaitsForABusyReaderNotForTheTransport) {
  Measurements m;
  m.begin(0);
  m.add(received(kImageHop, 1, 100 * kMs, 90 * kMs, 100 * kMs + 5000));   // the reader waited: 5 µs
  m.add(received(kImageHop, 2, 200 * kMs, 290 * kMs, 290 * kMs + 1000));  // the reader was busy: 1 µs
  const Figures f = m.figures();
  EXPECT_EQ(f.hops[kImageHop].received, 2U);
  EXPECT_DOUBLE_EQ(f.hops[kImageHop].transport_us.max, 5);
  EXPECT_DOUBLE_EQ(f.hops[kImageHop].transport_us.min, 1);
}

TEST(Measurements, TheWayToADecisionIsWhatWasCarriedAndWhatWasWorked) {
  const Note first = received(kImageHop, 5, 100 * kMs, 0, 100 * kMs + 20'000);
  const Note made = decided(kImageHop, 5, 160 * kMs);
  const Note second = received(kSeenHop, 3, 159 * kMs, 0, 159 * kMs + 30'000);
  const Note other = received(kObstaclesHop, 9, 158 * kMs, 0, 158 * kMs + 7'000);
  for (const auto& notes : {std::vector{first, other, made, second}, std::vector{made, other, second, first}}) {
    Measurements m;
    m.begin(0);
    for (const Note& note : notes) m.add(note);
    const Figures f = m.figures();
    ASSERT_EQ(f.carried_us.count, 1U);
    EXPECT_DOUBLE_EQ(f.carried_us.mean, 50);
    EXPECT_DOUBLE_EQ(f.worked_us.mean, 60'000 - 50);
  }
}

TEST(Measurements, AHopWhoseNoteWasLostIsNotTakenFromTheNextDecision) {
  Measurements m;
  m.begin(0);
  for (const std::int64_t at : {std::int64_t{100}, std::int64_t{200}}) {
    m.add(received(kImageHop, static_cast<std::uint64_t>(at), at * kMs, 0, at * kMs + 20'000));
    m.add(decided(kImageHop, static_cast<std::uint64_t>(at), (at + 60) * kMs));
    if (at == 200) m.add(received(kSeenHop, 2, (at + 59) * kMs, 0, (at + 59) * kMs + 10'000));
  }
  ASSERT_EQ(m.figures().carried_us.count, 1U);
  EXPECT_DOUBLE_EQ(m.figures().carried_us.mean, 30);
}

TEST(Measurements, TurnsOfASetupAddUp) {
  Measurements one, two;
  one.begin(0);
  one.add(received(kImageHop, 1, 10 * kMs, 0, 10 * kMs + 5000));
  two.begin(0);
  two.add(received(kImageHop, 1, 20 * kMs, 0, 20 * kMs + 7000));
  one.add(two);
  EXPECT_EQ(one.figures().hops[kImageHop].received, 2U);
  EXPECT_DOUBLE_EQ(one.figures().hops[kImageHop].transport_us.mean, 6);
}

TEST(Measurements, NothingFromBeforeTheBeginningCounts) {
  Measurements m;
  m.add(received(kImageHop, 1, 10 * kMs, 0, 11 * kMs));
  m.begin(100 * kMs);
  m.add(received(kImageHop, 2, 99 * kMs, 0, 101 * kMs, 7));
  m.add(received(kImageHop, 5, 110 * kMs, 0, 111 * kMs, 2));
  m.add(received(kImageHop, 7, 120 * kMs, 0, 121 * kMs, 1));
  const Figures f = m.figures();
  EXPECT_EQ(f.hops[kImageHop].received, 2U);
  EXPECT_EQ(f.hops[kImageHop].missed, 1U);
  EXPECT_TRUE(std::isnan(f.hops[kCloudHop].transport_us.mean));
}

TEST(Measurements, DecisionsAreJoinedWithTheirFrameAlsoWhenTheirNoteOvertakes) {
  Measurements m;
  m.begin(0);
  m.add(received(kImageHop, 1, 10 * kMs, 0, 11 * kMs));
  m.add(decided(kImageHop, 1, 50 * kMs));
  m.add(decided(kCloudHop, 1, 60 * kMs));
  EXPECT_EQ(m.figures().decision_us.count, 1U);
  m.add(received(kCloudHop, 1, 40 * kMs, 0, 41 * kMs));
  const Figures f = m.figures();
  EXPECT_EQ(f.decisions, 2U);
  EXPECT_EQ(f.decision_us.count, 2U);
  EXPECT_DOUBLE_EQ(f.decision_us.max, 40'000);
  EXPECT_DOUBLE_EQ(f.decision_us.min, 20'000);
}

TEST(Measurements, RecentRatesForTheView) {
  Measurements m;
  m.begin(0);
  for (std::int64_t i = 1; i <= 100; ++i) {
    m.add(received(kCloudHop, static_cast<std::uint64_t>(i), i * 100 * kMs, 0, i * 100 * kMs + 10'000));
  }
  const auto r = m.recent(kCloudHop, 10'000 * kMs);
  EXPECT_NEAR(r.rate_hz, 10, 0.5);
  EXPECT_NEAR(r.megabytes_per_s, 0.01, 0.001);
  EXPECT_DOUBLE_EQ(r.transport_us.p50, 10);
}

TEST(Note, GoesThroughASocketPairAndTellsTheEnd) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
  const Fd parent{pair[0]};
  Fd child{pair[1]};
  Note n = decided(kCloudHop, 42, 7);
  n.brake = true;
  n.distance = 3.5F;
  n.text = "vehicle 8.0 m ahead";
  ASSERT_TRUE(send_note(child.get(), n));
  bool ended = false;
  const auto got = receive_note(parent.get(), ended);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->kind, Note::Kind::Decided);
  EXPECT_EQ(got->sequence, 42U);
  EXPECT_TRUE(got->brake);
  EXPECT_EQ(got->text, n.text);
  EXPECT_FALSE(receive_note(parent.get(), ended));
  EXPECT_FALSE(ended);
  child.reset();
  EXPECT_FALSE(receive_note(parent.get(), ended));
  EXPECT_TRUE(ended);
  EXPECT_FALSE(send_note(-1, n));
}

}  // namespace
}  // namespace cardan::street
