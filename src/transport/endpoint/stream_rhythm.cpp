// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/stream_rhythm.hpp"

#include <algorithm>

namespace cardan::detail {
namespace {

constexpr auto kAnyOrder = std::memory_order_relaxed;
constexpr std::int64_t kLongestInterval = 10'000'000'000;  // no rhythm worth waiting for
constexpr std::int64_t kSilence = 8;                       // periods; a longer interval is a pause
// This many odd intervals in a row are another rhythm, which starts from the last one. A publisher that stood still may
// have some short ones.
constexpr std::uint32_t kOddLong = 3;
constexpr std::uint32_t kOddShort = 6;

// follow():
constexpr std::int64_t kShortestLook = 2'000'000;  // a shorter sleep is not worth its timer
constexpr std::int64_t kLongestLook = 10'000'000;  // what comes out of step waits no longer than this
constexpr std::int64_t kLongestPeriod =
    250'000'000;                      // rings this rare cost nothing, and a publication in between must not wait
constexpr std::uint64_t kKnown = 32;  // publications, before a stream without a steady beat is believed
constexpr std::int64_t kShortestSilence = 200'000'000;
constexpr std::int64_t kLongestSilence = 1'000'000'000;

/// Follows the least from below: at once when it is less, by a part when it is more.
void follow_least(Atomic<std::int64_t>& least, std::int64_t now) noexcept {
  const std::int64_t was = least.load(kAnyOrder);
  least.store(was == 0 || now < was ? now : was + std::min(now - was, was) / 32, kAnyOrder);
}

/// How many periods, to the nearest.
std::int64_t beats(std::int64_t time, std::int64_t period) noexcept {
  const std::int64_t half = time < 0 ? -(period / 2) : period / 2;
  return (time + half) / period;
}

}  // namespace

void StreamRhythm::learn(std::int64_t publish_ns) noexcept {
  const std::int64_t last = last_publish_ns.exchange(publish_ns, kAnyOrder);
  const std::int64_t interval = publish_ns - last;
  if (last == 0 || interval <= 0) return;
  std::int64_t period = period_ns.load(kAnyOrder);
  std::int64_t expected = expected_ns.load(kAnyOrder);
  std::int64_t deviation = deviation_ns.load(kAnyOrder);
  // From the nearest beat: some may have been skipped.
  const std::int64_t skipped = period > 0 ? beats(publish_ns - expected, period) : 0;
  expected += skipped * period;
  const std::int64_t error = publish_ns - expected;
  const std::int64_t size = error < 0 ? -error : error;
  const std::int64_t change = interval < period ? period - interval : interval - period;
  const bool in_step = size <= period / 4;
  const bool regular = in_step && change <= period / 4;
  const std::uint32_t odd = regular ? 0 : odd_.load(kAnyOrder) + 1;
  const std::uint32_t most_odd = interval > period ? kOddLong : period > kLongestPeriod ? 1 : kOddShort;
  if (period == 0 || (odd >= most_odd && interval <= kLongestInterval)) {
    if (interval > kLongestInterval) return;
    odd_.store(0, kAnyOrder);
    period = interval;
    expected = publish_ns + interval;
    deviation = interval / 4;
  } else {
    odd_.store(odd, kAnyOrder);
    const std::int64_t usual = 2 * deviation;
    deviation += (size - deviation) / (size > deviation || deviation > period / 16 ? 4 : 8);
    if (interval > kSilence * period) {
      expected = publish_ns + period;  // it pauses, and starts again at any time
      deviation = std::max(deviation, period / 8);
    } else if (skipped <= 0 || error >= -usual) {
      if (regular) period += error / 32;
      expected += (in_step ? error / 4 : 0) + period;
    }  // else it may be the late one of the beat before, and that of this beat is still to come
  }
  period_ns.store(period, kAnyOrder);
  expected_ns.store(expected, kAnyOrder);
  deviation_ns.store(deviation, kAnyOrder);
}

void StreamRhythm::learn(std::int64_t publish_ns, std::uint64_t missed, std::uint32_t depth) noexcept {
  const std::int64_t interval = publish_ns - last_publish_ns.load(kAnyOrder);
  learn(publish_ns);
  const std::uint64_t intervals = std::min(depth, kMostDepth);
  std::uint64_t count = stamps_.load(kAnyOrder);
  if (missed != 0) {
    // The time between is not known: half of the mean, because it may have come in a burst.
    count = 0;
    const std::int64_t mean = interval / static_cast<std::int64_t>(std::min<std::uint64_t>(missed, 1U << 20U) + 1) / 2;
    if (mean > 0 && dense_ns_.load(kAnyOrder) != 0) {
      const auto all = static_cast<std::int64_t>(intervals);
      follow_least(dense_ns_, mean * all);
      follow_least(dense_next_ns_, mean * (all + 1));
    }
  }
  const auto before = [&](std::uint64_t n) { return publish_ns - stamp_[(count - n) % stamp_.size()].load(kAnyOrder); };
  if (count >= intervals + 1) {
    const std::int64_t some = before(intervals), more = before(intervals + 1);
    if (some > 0 && more >= some) {
      follow_least(dense_ns_, some);
      follow_least(dense_next_ns_, more);
      const std::int64_t usual = usual_ns_.load(kAnyOrder);
      usual_ns_.store(usual == 0 ? some : usual + (some - usual) / 16, kAnyOrder);
    }
  }
  stamp_[count % stamp_.size()].store(publish_ns, kAnyOrder);
  stamps_.store(count + 1, kAnyOrder);
}

std::int64_t StreamRhythm::look_at(std::int64_t now, std::int64_t margin, std::uint32_t depth) const noexcept {
  const std::int64_t last = last_publish_ns.load(kAnyOrder);
  const std::int64_t period = period_ns.load(kAnyOrder);
  const std::int64_t expected = expected_ns.load(kAnyOrder);
  const std::int64_t deviation = deviation_ns.load(kAnyOrder);
  const std::int64_t dense = dense_ns_.load(kAnyOrder);
  const std::int64_t dense_next = dense_next_ns_.load(kAnyOrder);
  if (period <= 0 || period > kLongestPeriod || dense <= 0 || dense_next <= 0) return 0;
  if (now - last > std::clamp(16 * period, kShortestSilence, kLongestSilence)) return 0;
  // The next publication, which comes after `last` and after `now`, is overwritten `depth` intervals later. A quarter
  // is for the scheduler.
  const std::int64_t lost = std::max(last + dense_next / 4 * 3, now + dense / 4 * 3);
  const std::int64_t pace = std::clamp(period / 8, kShortestLook, kLongestLook);
  std::int64_t look = now + pace;
  std::int64_t spare = period / 4;
  if (period < kShortestLook) {
    // Too quick for a look each.
  } else if (deviation <= period / 16) {
    const std::int64_t due = expected + std::max(margin, 2 * deviation);
    // A little late: another look, twice as late, is cheaper for the publisher than a ring.
    look = due > now ? due : now + std::min(now - expected, pace);
    spare = period / 2;
  } else {
    // Without a steady beat, it must at least keep its distances: else the next burst may be denser than all recent
    // ones.
    const std::int64_t usual = usual_ns_.load(kAnyOrder);
    if (stamps_.load(kAnyOrder) < kKnown || usual - dense > usual / std::min(depth, kMostDepth) / 2) return 0;
  }
  // Very late: those after it are on their beats again, and soon overwrite it.
  if (look - expected > depth * period - spare) return 0;
  look = std::min(look, lost);
  if (look - now < kShortestLook && lost - now < kShortestLook) return 0;
  // Stamps that are not of our time must not let us sleep for long.
  return look < now + 2 * std::max(period, pace) ? look : 0;
}

}  // namespace cardan::detail
