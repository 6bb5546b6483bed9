// SPDX-License-Identifier: Apache-2.0
// How a subscriber waits: blocking, spinning, pre-woken or anticipating.
#include <sched.h>

#include <algorithm>
#include <limits>

#include "cardan/clock.hpp"
#include "cardan/detail/stop_flag.hpp"
#include "src/transport/endpoint/subscriber_core.hpp"
#include "src/transport/endpoint/waiting.hpp"
#include "src/transport/protocol/bell_protocol.hpp"

namespace cardan::detail {

CARDAN_TAKE_PATH void SubscriberCore::sleep(std::int64_t deadline_ns, bool prewake) noexcept {
  SubscriberCore* const self = this;
  sleep_on({&self, 1}, {}, deadline_ns, prewake);
}

CARDAN_TAKE_PATH SampleBlock* SubscriberCore::wait(std::int64_t deadline_ns) noexcept {
  for (;;) {
    if (SampleBlock* block = take()) return block;
    if (reason() != Reason::None) return nullptr;
    if (stop_is_requested()) {
      reason_.store(Reason::Stopped, std::memory_order_relaxed);
      return nullptr;
    }
    if (events_end_wait_ && !helper_.events().empty()) {
      reason_.store(Reason::Event, std::memory_order_relaxed);
      return nullptr;
    }
    if (deadline_ns != 0 && steady_now() >= deadline_ns) {
      reason_.store(Reason::TimedOut, std::memory_order_relaxed);
      return nullptr;
    }
    pause(deadline_ns);
  }
}

CARDAN_TAKE_PATH void SubscriberCore::pause(std::int64_t deadline_ns) noexcept {
  const Waiting how = waiting();
  switch (how.kind) {
    case Waiting::Kind::Block:
    case Waiting::Kind::Follow:
      return sleep(deadline_ns, false);
    case Waiting::Kind::Prewake:
      return prewake_next(deadline_ns);
    case Waiting::Kind::Anticipate:
      return anticipate_next(deadline_ns);
    case Waiting::Kind::Spin:
      break;
  }
  std::int64_t until = std::numeric_limits<std::int64_t>::max();
  if (how.limit.count() < until / 2) until = steady_now() + how.limit.count();
  if (deadline_ns != 0) until = std::min(until, deadline_ns);
  if (!spin(until, false)) sleep(deadline_ns, false);
}

CARDAN_TAKE_PATH bool SubscriberCore::filling() noexcept {
  for (const Stream& s : streams())
    if (protocol::is_filling<Native>(s.hot().filling)) return true;
  return false;
}

/// Returns true when a sample or an event is there, false when it is time to sleep (or nothing is being filled any
/// more). Spins on streams to which it holds a reference, not as a thread inside, because a long spin must not keep the
/// helper from releasing an ended stream.
CARDAN_TAKE_PATH bool SubscriberCore::spin(std::int64_t until, bool only_while_filling) noexcept {
  std::array<Stream*, kMaxStreams> watched;
  std::size_t count = 0;
  const std::uint32_t generation = sleepers_.event_seq.load(std::memory_order_seq_cst);
  {
    const Inside inside(*this);
    for (Stream& s : streams()) {
      s.add_reference();
      watched[count++] = &s;
    }
  }
  const std::int64_t begin = steady_now();
  const auto some_new = [&]() noexcept {
    for (std::size_t i = 0; i < count; ++i)
      if (watched[i]->something_new()) return true;
    return false;
  };
  const auto some_filling = [&]() noexcept {
    for (std::size_t i = 0; i < count; ++i)
      if (protocol::is_filling<Native>(watched[i]->hot().filling)) return true;
    return false;
  };
  bool found = false;
  std::int64_t last_look = begin;
  for (std::uint32_t turn = 1;; ++turn) {
    found = some_new();
    if (found) break;
    cpu_relax();
    if (turn % 16 != 0) continue;
    if (turn % 256 == 16) warm();  // a spin of milliseconds shares its caches with other threads
    if (sleepers_.event_seq.load(std::memory_order_relaxed) != generation || stop_is_requested()) break;
    last_look = steady_now();
    if (last_look >= until) break;
    if (only_while_filling && !some_filling()) {
      found = some_new();  // `filling` is cleared right after the publish
      break;
    }
  }
  const std::int64_t spent =
      last_look - begin;  // since the last look at the clock: another one would cost the sample 40 ns
  for (std::size_t i = 0; i < count; ++i) {
    if (i == 0) watched[i]->page().spin_ns.fetch_add(spent, std::memory_order_relaxed);
    watched[i]->drop_reference();
  }
  return found;
}

CARDAN_TAKE_PATH void SubscriberCore::prewake_next(std::int64_t deadline_ns) noexcept {
  constexpr std::uint32_t kTooMany = 8;    // wasted spins in a row
  constexpr std::uint32_t kLeaveOut = 64;  // sleeps without spinning before the next try
  if (wasted_prewakes_.load(std::memory_order_relaxed) >= kTooMany) {
    if (prewakes_left_out_.fetch_add(1, std::memory_order_relaxed) < kLeaveOut) return sleep(deadline_ns, false);
    prewakes_left_out_.store(0, std::memory_order_relaxed);
  }
  sleep(deadline_ns, true);
  spin_while_filling(deadline_ns);
}

CARDAN_TAKE_PATH void SubscriberCore::spin_while_filling(std::int64_t deadline_ns) noexcept {
  bool spin_now = false;
  {
    const Inside inside(*this);
    spin_now = filling();
  }
  if (!spin_now || ready()) return;
  std::int64_t until = steady_now() + waiting().limit.count();
  if (deadline_ns != 0) until = std::min(until, deadline_ns);
  if (spin(until, true))
    wasted_prewakes_.store(0, std::memory_order_relaxed);
  else
    wasted_prewakes_.fetch_add(1, std::memory_order_relaxed);
}

void SubscriberCore::anticipate_next(std::int64_t deadline_ns) noexcept {
  constexpr std::int64_t kShortest = 300'000;  // a shorter sleep is not worth its wake-up
  std::int64_t now = steady_now();
  std::int64_t expected = 0;
  std::int64_t deviation = 0;
  std::int64_t period = 0;
  {
    const Inside inside(*this);
    for (const Stream& s : streams()) {
      const std::int64_t at = s.rhythm.expected_ns.load(std::memory_order_relaxed);
      const std::int64_t off = s.rhythm.deviation_ns.load(std::memory_order_relaxed);
      const std::int64_t rhythm = s.rhythm.period_ns.load(std::memory_order_relaxed);
      // A stream without a rhythm, or whose stamps are not of our time, must not hide the rhythm of another one.
      if (at == 0 || rhythm < kShortest || off > rhythm / 8 || at < now - rhythm || at > now + 2 * rhythm) continue;
      if (expected != 0 && at >= expected) continue;
      expected = at;
      deviation = off;
      period = rhythm;
    }
  }
  if (expected == 0) return sleep(deadline_ns, false);

  const std::int64_t margin = waiting().limit.count() + std::min(2 * deviation, period / 40);
  const std::int64_t late = std::min(wake_late_ns_.load(std::memory_order_relaxed), period / 40);
  const std::int64_t wake_at = expected - margin - late;
  if (deadline_ns != 0 && deadline_ns <= wake_at) return sleep(deadline_ns, false);
  if (now < wake_at) {
    sleep(wake_at, false);
    if (ready()) return;
    now = steady_now();
    if (now < wake_at) return;  // an event or a signal
    // Follows the lateness of the wake-up from above: it grows quickly and shrinks slowly.
    const std::int64_t was = wake_late_ns_.load(std::memory_order_relaxed);
    const std::int64_t is = now - wake_at;
    wake_late_ns_.store(was + (is > was ? (is - was) / 2 : (is - was) / 32), std::memory_order_relaxed);
  }
  std::int64_t until = expected + margin;
  if (deadline_ns != 0) until = std::min(until, deadline_ns);
  if (now >= until || !spin(until, false)) sleep(deadline_ns, false);
}

}  // namespace cardan::detail
