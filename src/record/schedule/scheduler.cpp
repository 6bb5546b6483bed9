// SPDX-License-Identifier: Apache-2.0
#include "src/record/schedule/scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cardan/error.hpp"

namespace cardan::record {

namespace {

/// No look is nearer than this: a recorder that cannot issue the ordered writes must not spin.
constexpr std::int64_t kSoonestLook = 200 * schedule::kMicrosecond;
/// Of max_age: from here on it need not be quite so quiet; from there on it is written evenly; by then it is to be
/// gone.
constexpr double kLessQuiet = 0.25;
constexpr double kEvenly = 0.5;
constexpr double kGone = 0.9;

SchedulerOptions checked_schedule(const SchedulerOptions& o) {
  const auto refuse = [](const std::string& cause, const char* remedy) {
    throw Error(ErrorCode::InvalidArgument, "the recorder's schedule: " + cause, remedy);
  };
  const auto range = [&](const char* name, std::chrono::nanoseconds value, std::int64_t least) {
    constexpr std::int64_t kHour = 3'600'000 * schedule::kMillisecond;
    if (value.count() < least || value.count() > kHour)
      refuse(fmt::format("{} is {} ns", name, value.count()),
             least == 0 ? "use 0 to an hour" : "use a millisecond to an hour");
  };
  range("max_age", o.max_age, schedule::kMillisecond);
  range("smoothing", o.smoothing, schedule::kMillisecond);
  range("margin", o.margin, 0);
  range("longest_look", o.longest_look, schedule::kMillisecond);
  if (o.smoothing > o.max_age) refuse("smoothing is longer than max_age", "lower smoothing, or raise max_age");
  if (!(o.force_share > 0 && o.force_share <= 1))
    refuse(fmt::format("force_share is {}", o.force_share), "use a share above 0, at most 1");
  if (!(o.quiet_share >= 0 && o.quiet_share <= 1))
    refuse(fmt::format("quiet_share is {}", o.quiet_share), "use a share from 0 to 1");
  if (o.least_write > std::uint64_t{1} << 40U)
    refuse(fmt::format("least_write is {} bytes", o.least_write), "use some hundred KiB");
  return o;
}

}  // namespace

Scheduler::Scheduler(const SchedulerOptions& options)
    : options_(checked_schedule(options)),
      max_age_(options.max_age.count()),
      ages_(max_age_ / (schedule::Arrivals::kSteps / 2)),
      recent_(options.smoothing.count() / (schedule::Arrivals::kSteps / 2)),
      pacer_(options.least_write) {}

void Scheduler::hint(const CycleHint& shared, std::int64_t now, std::int64_t published_ns) noexcept {
  CycleHint hint = shared;  // its publisher could change it between a check and its use
  if (published_ns > 0) {
    // The newest stamp was taken just before the publication: if not, it is of another clock.
    constexpr std::int64_t kAnotherClock = 100 * schedule::kMillisecond;
    const std::int64_t stamp = hint.busy ? hint.begin_ns : hint.end_ns;
    constexpr std::int64_t kSane = std::int64_t{1} << 61U;
    if (std::max({stamp, hint.begin_ns, hint.end_ns, published_ns}) < kSane &&
        std::min(hint.begin_ns, hint.end_ns) >= 0) {
      const std::int64_t shift = published_ns - stamp;
      if (shift > kAnotherClock || shift < -kAnotherClock) {
        hint.begin_ns += shift;
        if (hint.end_ns != 0) hint.end_ns = std::max<std::int64_t>(0, hint.end_ns + shift);
      }
    }
  }
  const std::int64_t begin = applications_.hear(hint, now);
  if (begin == 0) return;
  ++begins_;
  if (disk_.was_writing(begin)) ++begins_in_writes_;
}

void Scheduler::arrived(std::uint64_t bytes, std::int64_t now) noexcept {
  ages_.add(bytes, now);
  recent_.add(bytes, now);
  rate_.add(bytes, now);
  sample_bytes_ += (static_cast<double>(bytes) - sample_bytes_) / 16;
}

void Scheduler::issued(std::uint64_t bytes, std::int64_t now) noexcept {
  reasons_[static_cast<std::size_t>(last_)].bytes += bytes;
  disk_.issued(bytes, now);
  if (last_ == WriteReason::Paced || last_ == WriteReason::NoHints || last_ == WriteReason::NoWindow)
    pacer_.issued(bytes);
}

void Scheduler::completed(std::uint64_t bytes, std::int64_t now) noexcept { disk_.completed(bytes, now); }

Decision Scheduler::decide(const Backlog& backlog, std::int64_t now) noexcept {
  const Decision decision = choose(backlog, now);
  last_ = decision.why;
  ++reasons_[static_cast<std::size_t>(last_)].decisions;
  return decision;
}

Decision Scheduler::choose(const Backlog& backlog, std::int64_t now) noexcept {
  if (backlog.bytes == 0) return {0, now + max_age_, WriteReason::Nothing};
  const std::int64_t came = backlog.oldest_ns > 0 ? std::min(backlog.oldest_ns, now) : now;
  const std::int64_t age = now - came;
  longest_wait_ns_ = std::max(longest_wait_ns_, age);
  if (options_.policy == SchedulePolicy::Asap) return {Decision::kAll, now + max_age_, WriteReason::Asap};

  if (age >= max_age_) {
    // With data that is nearly as old, so that the next write need not be forced too.
    const std::uint64_t old = ages_.older_than(now - max_age_ / 4 * 3, backlog.bytes);
    return {std::max<std::uint64_t>(1, old), now + kSoonestLook, WriteReason::ForcedByAge};
  }
  if (!(backlog.fullest_share < options_.force_share)) {  // also NaN
    const double full = std::clamp(backlog.fullest_share, options_.force_share, 1.0);
    const double part = 1 - options_.force_share / 2 / full;
    const auto bytes = static_cast<std::uint64_t>(static_cast<double>(backlog.bytes) * part);
    return {std::clamp<std::uint64_t>(bytes, 1, backlog.bytes), now + kSoonestLook, WriteReason::ForcedBySize};
  }

  const double fullness = std::max(0.0, backlog.fullest_share / options_.force_share);
  Decision decision;
  if (options_.policy == SchedulePolicy::Paced) {
    const auto horizon = static_cast<std::int64_t>(static_cast<double>(options_.smoothing.count()) * (1 - fullness));
    decision = paced(WriteReason::Paced, recent_, horizon, backlog, now);
  } else {
    decision = by_cycle(backlog, age, fullness, now);
  }
  const std::int64_t last = std::min(came + max_age_, now + options_.longest_look.count());
  decision.look_again_ns = std::max(now + kSoonestLook, std::min(decision.look_again_ns, last));
  return decision;
}

Decision Scheduler::by_cycle(const Backlog& backlog, std::int64_t age, double fullness, std::int64_t now) noexcept {
  const double pressure = std::max(fullness, static_cast<double>(age) / static_cast<double>(max_age_));
  const double quiet = options_.quiet_share;
  const double tolerated = quiet + (1 - quiet) * std::max(0.0, (pressure - kLessQuiet) / (1 - kLessQuiet));
  const schedule::Applications::Outlook outlook = applications_.look(now, options_.margin.count(), tolerated);
  // If no application has to be waited for, or a window will not come: evenly, from the beginning.
  if (outlook.alive == 0 || outlook.tireless_share > quiet) {
    const auto horizon = static_cast<std::int64_t>(static_cast<double>(options_.smoothing.count()) * (1 - fullness));
    return paced(outlook.alive == 0 ? WriteReason::NoHints : WriteReason::NoWindow, recent_, horizon, backlog, now);
  }
  if (outlook.quiet_until > now) {
    const std::uint64_t bytes = bytes_that_fit(backlog, outlook.quiet_until, pressure, now);
    if (bytes != 0) {
      const WriteReason why = outlook.busy_share <= quiet ? WriteReason::IdleWindow : WriteReason::QuietEnough;
      const bool rest = bytes < backlog.bytes;
      return {bytes, rest ? std::min(outlook.change_ns, now + schedule::kMillisecond) : outlook.change_ns, why};
    }
  }
  if (pressure >= kEvenly) {
    const auto horizon = static_cast<std::int64_t>(static_cast<double>(max_age_) * kGone * (1 - fullness));
    return paced(WriteReason::NoWindow, ages_, horizon, backlog, now);
  }
  return {0, outlook.change_ns, WriteReason::Busy};
}

/// The bytes that should be on the disk by `until`. 0: wait for a better window; the higher the pressure, the smaller
/// the window that is accepted.
std::uint64_t Scheduler::bytes_that_fit(const Backlog& backlog, std::int64_t until, double pressure,
                                        std::int64_t now) const noexcept {
  if (disk_.speed() <= 0) return Decision::kAll;  // to get to know it
  const double room = disk_.speed() * static_cast<double>(until - now) - static_cast<double>(backlog.in_flight_bytes);
  if (room >= static_cast<double>(backlog.bytes)) return Decision::kAll;
  if (room < sample_bytes_ * std::max(0.0, 1 - pressure / kEvenly)) return 0;
  // Samples are issued whole, so the last one goes beyond.
  return static_cast<std::uint64_t>(std::max(1.0, room - sample_bytes_));
}

Decision Scheduler::paced(WriteReason why, const schedule::Arrivals& arrivals, std::int64_t horizon,
                          const Backlog& backlog, std::int64_t now) noexcept {
  // Slightly faster than data arrives; otherwise a backlog would never shrink.
  constexpr double kCatchesUp = 1.1;
  const double rate = std::max(kCatchesUp * rate_.at(now), arrivals.least_rate(horizon, backlog.bytes, now));
  const auto [bytes, next] = pacer_.step(rate, backlog.bytes, now);
  return {bytes, next, why};
}

ScheduleReport Scheduler::explain(std::int64_t now) const {
  ScheduleReport r;
  r.policy = options_.policy;
  r.reasons = reasons_;
  for (const ScheduleReport::Share& share : reasons_) r.bytes += share.bytes;
  if (r.bytes != 0)
    r.in_idle_windows = static_cast<double>(r.of(WriteReason::IdleWindow).bytes) / static_cast<double>(r.bytes);
  r.longest_wait_ns = longest_wait_ns_;
  r.arriving = rate_.at(now) * 1e9;
  r.disk_speed = disk_.speed() * 1e9;
  r.begins = begins_;
  r.begins_in_writes = begins_in_writes_;
  r.hints = applications_.hints();
  r.absurd_hints = applications_.absurd();
  r.ignored_hints = applications_.ignored();
  for (const schedule::Applications::Application& a : applications_.all()) {
    if (!a.used) continue;
    const bool alive = a.rhythm.alive(now);
    r.applications.push_back({.name = std::string(a.name.view()),
                              .weight = a.weight,
                              .alive = alive,
                              .busy = alive && a.rhythm.busy(),
                              .regular = a.rhythm.regular(),
                              .cycles = a.rhythm.count(),
                              .hints = a.hints,
                              .period_ns = a.rhythm.period(),
                              .period_deviation_ns = a.rhythm.intervals().deviation,
                              .busy_ns = a.rhythm.work().mean,
                              .busy_deviation_ns = a.rhythm.work().deviation,
                              .begin_error_ns = a.rhythm.misses().mean});
  }
  return r;
}

}  // namespace cardan::record
