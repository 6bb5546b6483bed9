// SPDX-License-Identifier: Apache-2.0
// How often follow() must be woken, how long a publication waits for its look and what is lost, in simulated time.
#include "src/transport/endpoint/stream_rhythm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

namespace {

using cardan::detail::StreamRhythm;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kMargin = 200'000;
constexpr std::int64_t kStart = 5'000'000 * kMs;

struct Outcome {
  int rings = 0, looks = 0, lost = 0;
  std::int64_t longest_wait = 0;
};

/// A reader of a stream of this depth that looks by look_at(), and otherwise is woken. `late`: how long its thread
/// takes to run. The first publications, by which it learns, are not counted.
Outcome read(const std::vector<std::int64_t>& published, std::uint32_t depth, const std::function<std::int64_t()>& late,
             std::size_t learned = 24) {
  StreamRhythm rhythm;
  Outcome all;
  std::size_t next = 0;
  std::int64_t now = published.front() + late();
  while (next < published.size()) {
    std::size_t end = next;
    while (end < published.size() && published[end] <= now) ++end;
    const std::size_t first = end - next > depth ? end - depth : next;
    for (std::size_t i = first; i < end; ++i) {
      rhythm.learn(published[i], i == first ? first - next : 0, depth);
      if (i >= learned) all.longest_wait = std::max(all.longest_wait, now - published[i]);
    }
    if (end > learned) all.lost += static_cast<int>(first - next);
    next = end;
    if (next == published.size()) break;
    const std::int64_t look = rhythm.look_at(now, kMargin, depth);
    EXPECT_TRUE(look == 0 || look > now);
    if (next >= learned) ++(look == 0 ? all.rings : all.looks);
    now = (look == 0 ? std::max(now, published[next]) : look) + late();
  }
  return all;
}

class FollowedStream : public testing::Test {
 protected:
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  /// Beats, each later than its time by up to `jitter`.
  std::vector<std::int64_t> beats(std::size_t count, std::int64_t period, std::int64_t jitter) {
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; i < count; ++i)
      all.push_back(kStart + static_cast<std::int64_t>(i) * period + between(0, jitter));
    return all;
  }
  std::function<std::int64_t()> late_ = [this] { return between(20'000, 300'000); };
  std::mt19937_64 random_{7};
};

TEST_F(FollowedStream, ASteadyOneCostsALookEach) {
  for (const std::int64_t period : {3 * kMs, 10 * kMs, 33 * kMs, 200 * kMs}) {
    const Outcome o = read(beats(1000, period, 100'000), 1, late_);
    EXPECT_EQ(o.rings, 0) << period;
    EXPECT_EQ(o.lost, 0) << period;
    EXPECT_LE(o.looks, 1100) << period;
    EXPECT_LE(o.longest_wait, std::max(kMs, period / 16)) << period;
  }
}

TEST_F(FollowedStream, AJitteringOneNeedsNoRing) {
  for (const std::int64_t period : {10 * kMs, 33 * kMs, 100 * kMs})
    for (const int percent : {5, 10, 20, 30, 40}) {
      const Outcome o = read(beats(2000, period, period * percent / 100), 1, late_);
      EXPECT_LE(o.rings, percent <= 10   ? 0
                         : percent == 20 ? 10
                         : percent == 30 ? 40
                                         : 200)
          << "of 2000; " << period << ", " << percent << " %";
      EXPECT_EQ(o.lost, 0) << period << ", " << percent << " %";
      EXPECT_LE(o.looks, 2000 * 10) << period << ", " << percent << " %";
      EXPECT_LE(o.longest_wait, std::max<std::int64_t>(period * 6 / 10, 11 * kMs)) << period << ", " << percent << " %";
    }
}

TEST_F(FollowedStream, ALateOneIsLookedForAndNotRungFor) {
  auto published = beats(1000, 33 * kMs, 100'000);
  for (std::size_t i = 50; i < published.size(); i += 40) published[i] += between(5 * kMs, 30 * kMs);
  for (const std::uint32_t depth : {1U, 4U}) {
    const Outcome o = read(published, depth, late_);
    EXPECT_LE(o.rings, depth == 1 ? 30 : 0) << "of the 24 that are late";
    EXPECT_EQ(o.lost, 0) << depth;
    EXPECT_LE(o.longest_wait, 34 * kMs) << depth;
  }
}

TEST_F(FollowedStream, APauseThatEndsRingsAFewTimes) {
  auto published = beats(1000, 10 * kMs, 100'000);
  for (std::size_t i = 500; i < published.size(); ++i) published[i] += 30'000 * kMs;
  for (const std::uint32_t depth : {4U, 1024U}) {
    const Outcome o = read(published, depth, late_);
    EXPECT_GE(o.rings, 1) << "nobody looks for half a minute";
    EXPECT_LE(o.rings, 5);
    EXPECT_LE(o.looks, 1300) << "a silent stream costs nothing";
    EXPECT_EQ(o.lost, 0);
  }
}

TEST_F(FollowedStream, TheFirstVeryLateOneIsNotOverwritten) {
  for (std::int64_t late = 5 * kMs; late <= 32 * kMs; late += kMs / 4) {
    auto published = beats(600, 33 * kMs, 100'000);
    published[500] += late;
    EXPECT_EQ(read(published, 1, late_).lost, 0) << late;
  }
}

TEST_F(FollowedStream, OnesBetweenTheBeatsAreNotOverwritten) {
  auto published = beats(1000, 10 * kMs, 100'000);
  for (std::size_t i = 10; i < 1000; i += 10) published.push_back(published[i] + 7 * kMs);
  std::sort(published.begin(), published.end());
  EXPECT_EQ(read(published, 1, late_, 100).lost, 0) << "each is overwritten 3 ms later";
}

TEST_F(FollowedStream, APublisherThatCatchesUpLosesNothing) {
  // It stands still for some beats, and then publishes them at once.
  auto published = beats(3000, 10 * kMs, 100'000);
  for (std::size_t i = 100; i + 3 < published.size(); i += 97)
    for (std::size_t k = 0; k < 3; ++k) published[i + k] = published[i + 2] + static_cast<std::int64_t>(k) * 20'000;
  std::sort(published.begin(), published.end());
  const Outcome o = read(published, 4, late_);
  EXPECT_EQ(o.lost, 0);
  EXPECT_LE(o.rings, 30) << "of 3000";
}

TEST_F(FollowedStream, OneThatIsTooQuickForItsDepthIsRungFor) {
  const auto quick = beats(5000, kMs, 100'000);
  const Outcome shallow = read(quick, 1, late_);
  EXPECT_EQ(shallow.lost, 0) << "a look each 2 ms would miss half of it";
  EXPECT_GE(shallow.rings, 4900);
  const Outcome deep = read(quick, 10, late_);
  EXPECT_EQ(deep.lost, 0);
  EXPECT_EQ(deep.rings, 0);
  EXPECT_LE(deep.looks, 3000);
  EXPECT_LE(deep.longest_wait, 3 * kMs);
}

TEST_F(FollowedStream, BurstsThatFillTheDepthAreRungFor) {
  // Four at once, each 40 ms; the reader keeps up only if it is woken by the first of them.
  std::vector<std::int64_t> published;
  for (int i = 0; i < 500; ++i)
    for (int k = 0; k < 4; ++k) published.push_back(kStart + i * 40 * kMs + k * kMs);
  EXPECT_EQ(read(published, 2, [] { return std::int64_t{50'000}; }).lost, 0);
}

TEST_F(FollowedStream, OneWithoutARhythmLosesNothingByIt) {
  for (const std::int64_t mean : {10 * kMs, 33 * kMs, 100 * kMs})
    for (const std::uint32_t depth : {1U, 2U, 4U, 10U}) {
      std::exponential_distribution<double> wait(1.0 / static_cast<double>(mean - kMs));
      std::vector<std::int64_t> published{kStart};
      for (int i = 0; i < 5000; ++i)
        published.push_back(published.back() + kMs + static_cast<std::int64_t>(wait(random_)));
      const Outcome o = read(published, depth, late_);
      EXPECT_LE(o.lost, depth == 1 ? 1 : 0) << "of 5000; " << mean << ", " << depth;
      EXPECT_LE(o.longest_wait, 11 * kMs) << mean << ", " << depth;
    }
}

TEST_F(FollowedStream, ASlowOneIsRungFor) {
  const Outcome o = read(beats(100, 300 * kMs, 100'000), 1, late_);
  EXPECT_EQ(o.looks, 0);
  EXPECT_LE(o.longest_wait, kMs);
}

TEST_F(FollowedStream, StampsThatCannotBeTrueDoNotMakeItSleep) {
  StreamRhythm ahead;
  for (std::int64_t i = 0; i < 100; ++i) {
    ahead.learn(kStart + 3'600'000 * kMs + i * 33 * kMs, 0, 1);
    EXPECT_EQ(ahead.look_at(kStart + i * 33 * kMs, kMargin, 1), 0) << "an hour ahead";
  }
  for (int round = 0; round < 2000; ++round) {
    StreamRhythm rhythm;
    std::int64_t stamp = kStart;
    for (int i = 0; i < 20; ++i) {
      switch (between(0, 3)) {
        case 0:
          stamp = between(0, std::int64_t{1} << 61);
          break;
        case 1:
          stamp = -stamp;
          break;
        default:
          stamp += between(-100, 100 * kMs);
      }
      const auto depth = static_cast<std::uint32_t>(between(1, 1024));
      rhythm.learn(stamp, static_cast<std::uint64_t>(between(0, 1) * between(0, std::int64_t{1} << 62)), depth);
      const std::int64_t look = rhythm.look_at(kStart, kMargin, depth);
      EXPECT_TRUE(look == 0 || (look > kStart && look <= kStart + 500 * kMs)) << look - kStart;
    }
  }
}

}  // namespace
