// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/backpressure.hpp"

#include <algorithm>

#include "cardan/clock.hpp"
#include "src/base/futex.hpp"
#include "src/transport/protocol/reliable_protocol.hpp"

namespace cardan::detail {
namespace {

/// The subscribers of another user could each prove themselves and then stop in turn. Therefore a loss of patience with
/// one counts for all.
bool is_proven(const Attached& a) noexcept { return a.proven && a.proven_after == a.patience->losses; }

std::uint64_t cursor_of(const Attached& a) noexcept {
  return std::max(a.floor, Native::load<Site::Q1>(a.page->cursor));
}

/// Returns whether the subscriber arrived at `needed`, or left, before `until`.
bool wait_for_one(Attached& a, PublisherTable& table, layout::Hot& hot, std::uint64_t needed,
                  std::int64_t until) noexcept {
  constexpr std::int64_t kSlice = 5'000'000;  // bounds how late the death of the awaited subscriber is noticed (I18)
  bool arrived = false;
  for (;;) {
    std::uint32_t progress = 0;
    arrived = protocol::has_arrived<Native>(hot.backpressure, a.page->progress, a.page->cursor, needed, progress) ||
              !table.entries().is(a.index, &a);
    const std::int64_t now = steady_now();
    if (arrived || now >= until) break;
    futex::wait(a.page->progress, progress, std::min(until, now + kSlice));
  }
  hot.backpressure.store(0, std::memory_order_relaxed);
  return arrived;
}

}  // namespace

bool Backpressure::wait(PublisherTable& table, layout::Hot& hot, std::uint64_t n) const noexcept {
  bool in_time = true;
  const std::int64_t until = steady_now() + timeout_ns_;
  table.entries().for_each([&](std::uint32_t i, Attached* a) noexcept {
    if (!a->reliable) return;
    const std::uint64_t cursor = cursor_of(*a);
    if (a->demoted.load(std::memory_order_relaxed)) {
      if (cursor + 1 < n || steady_now() < a->patience->until_ns) return;
      a->demoted.store(false, std::memory_order_relaxed);  // it has caught up
    }
    if (!is_proven(*a) && cursor + 1 >= n && steady_now() >= a->patience->until_ns) {
      a->proven = true;
      a->proven_after = a->patience->losses;
    }
    if (n <= depth_ || cursor >= n - depth_) return;
    if (!is_proven(*a) && steady_now() < a->patience->until_ns) return table.demote(*a);  // not waited for yet
    const bool arrived = wait_for_one(*a, table, hot, n - depth_, until);
    if (arrived && table.entries().is(i, a)) return;
    lose_patience(*a->patience);  // also if it made us wait and then left
    if (arrived) return;
    table.demote(*a);
    hot.reliable_timeouts.store(hot.reliable_timeouts.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    in_time = false;
  });
  return in_time;
}

bool Backpressure::wait_for_room(PublisherTable& table, layout::Hot& hot, std::uint64_t n,
                                 std::int64_t until) const noexcept {
  if (n <= depth_) return true;
  bool all = true;
  table.entries().for_each([&](std::uint32_t, Attached* a) noexcept {
    if (!all || !a->reliable || a->demoted.load(std::memory_order_relaxed)) return;
    if (cursor_of(*a) >= n - depth_) return;
    if (!is_proven(*a) && steady_now() < a->patience->until_ns) return;
    all = wait_for_one(*a, table, hot, n - depth_, until);
  });
  return all;
}

/// The first time it only has to catch up. A subscriber that times out repeatedly would cost a time-out each time, so
/// it stays demoted longer each time: 2, 4, … 512 time-outs.
void Backpressure::lose_patience(Patience& p) const noexcept {
  constexpr std::uint32_t kMost = 9;
  constexpr std::int64_t kForgives = 60'000'000'000;           // ns
  constexpr std::int64_t kLongestTimeout = 3'600'000'000'000;  // ns; of a time-out
  const std::int64_t now = steady_now();
  if (now - p.until_ns > kForgives) p.demotions = 0;
  const std::int64_t timeout = std::min(timeout_ns_, kLongestTimeout);
  p.until_ns = p.demotions == 0 ? now : now + (timeout << std::min(p.demotions, kMost));
  ++p.demotions;
  ++p.losses;
}

}  // namespace cardan::detail
