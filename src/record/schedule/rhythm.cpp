// SPDX-License-Identifier: Apache-2.0
#include "src/record/schedule/rhythm.hpp"

#include <algorithm>

namespace cardan::record::schedule {
namespace {

// A stamp is taken before it is read here, so a later one is made up; a little more for clocks of another time
// namespace.
constexpr std::int64_t kAhead = kMillisecond;
constexpr std::uint64_t kMostSkipped = 1'000'000;  // cycles between two looks
constexpr std::int64_t kUncertain = 2 * kMillisecond;

bool plausible(const CycleHint& h, std::int64_t now) noexcept {
  const std::int64_t latest = now + kAhead;
  if (h.count == 0 || h.name.empty()) return false;
  if (h.begin_ns <= 0 || h.begin_ns > latest || h.end_ns < 0 || h.end_ns > latest) return false;
  if (h.worked_ns < 0 || h.worked_ns > CycleHint::kMaxPeriod) return false;
  if (h.busy && h.end_ns > h.begin_ns) return false;
  if (!h.busy && (h.end_ns < h.begin_ns || h.end_ns - h.begin_ns > CycleHint::kMaxPeriod)) return false;
  if (h.period_ns < 0 || h.period_ns > CycleHint::kMaxPeriod) return false;
  return h.weight > 0 && h.weight <= CycleHint::kMaxWeight;  // false for NaN
}

}  // namespace

Rhythm::Heard Rhythm::hear(const CycleHint& h, std::int64_t now) noexcept {
  if (!plausible(h, now)) return Heard::Absurd;
  if (count_ != 0) {
    if (h.count == count_ && h.busy == busy_ && h.begin_ns == begin_ns_) return Heard::Nothing;
    if (!follows(h))
      *this = Rhythm{};
    else if (h.count > count_)
      learn_interval(h);
  }
  learn_work(h);
  count_ = h.count;
  begin_ns_ = h.begin_ns;
  stamp_ = h.busy ? h.begin_ns : h.end_ns;
  stated_ns_ = h.period_ns;
  busy_ = h.busy;
  return Heard::News;
}

bool Rhythm::follows(const CycleHint& h) const noexcept {
  if (h.count == count_) return busy_ && !h.busy && h.begin_ns == begin_ns_;
  return h.count > count_ && h.count - count_ <= kMostSkipped && h.begin_ns > begin_ns_;
}

void Rhythm::learn_interval(const CycleHint& h) noexcept {
  const auto cycles = static_cast<std::int64_t>(h.count - count_);
  const std::int64_t interval = std::max<std::int64_t>(1, (h.begin_ns - begin_ns_) / cycles);
  const bool strange = learned() && (interval / 4 > period_.mean || interval < period_.mean / 4);
  if (strange && ++strange_ < 3) return;  // it paused, or ran twice; three times in a row it has a new rhythm
  if (strange || interval > CycleHint::kMaxPeriod) {
    period_ = {};
    misses_ = {};
  }
  strange_ = 0;
  if (interval > CycleHint::kMaxPeriod) return;
  if (learned() && cycles <= 64) {
    const std::int64_t miss = h.begin_ns - (begin_ns_ + cycles * period_.mean);
    misses_.add(miss < 0 ? -miss : miss);
  }
  period_.add(interval);
}

void Rhythm::learn_work(const CycleHint& h) noexcept {
  const std::uint64_t over = h.busy ? h.count - 1 : h.count;
  if (over <= worked_) return;
  work_.add(h.busy ? h.worked_ns : h.end_ns - h.begin_ns);
  worked_ = over;
}

std::int64_t Rhythm::patience() const noexcept {
  constexpr std::int64_t kPeriods = 4;
  constexpr std::int64_t kLeast = 50 * kMillisecond;
  constexpr std::int64_t kMost = 30'000 * kMillisecond;
  constexpr std::int64_t kUnknown = 1'000 * kMillisecond;
  const std::int64_t known = std::max(period(), work_.mean + 4 * work_.deviation);
  return known == 0 ? kUnknown : std::clamp(kPeriods * known, kLeast, kMost);
}

bool Rhythm::regular() const noexcept { return learned() ? period_.deviation <= period_.mean / 4 : stated_ns_ > 0; }

std::int64_t Rhythm::tolerance() const noexcept {
  if (!learned()) return stated_ns_ / 8;
  return std::min(std::max(2 * period_.deviation, 50 * kMicrosecond), period_.mean / 4);
}

// Of a regular one: its next start, predicted from the last.
std::int64_t Rhythm::due(std::int64_t now) const noexcept {
  const std::int64_t each = std::max<std::int64_t>(1, period());
  const std::int64_t late = now - tolerance() - begin_ns_;
  return begin_ns_ + (late <= each ? each : (late + each - 1) / each * each);
}

std::int64_t Rhythm::quiet_until(std::int64_t now, std::int64_t margin) const noexcept {
  if (!regular()) return now + kUncertain;
  // Of a fast one a margin as long as its cycle would leave nothing.
  return due(now) - tolerance() - std::min(margin, period() / 8);
}

std::int64_t Rhythm::begun_by(std::int64_t now) const noexcept { return regular() ? due(now) + tolerance() : now; }

std::int64_t Rhythm::busy_until(std::int64_t now) const noexcept {
  const std::int64_t typical = work_.count > 0 ? work_.mean : stated_ns_ > 0 ? stated_ns_ / 2 : kMillisecond;
  if (begin_ns_ + typical > now) return begin_ns_ + typical;
  if (begin_ns_ + typical + 2 * work_.deviation > now) return begin_ns_ + typical + 2 * work_.deviation;
  return now + std::clamp(typical / 8, 100 * kMicrosecond, kUncertain);
}

}  // namespace cardan::record::schedule
