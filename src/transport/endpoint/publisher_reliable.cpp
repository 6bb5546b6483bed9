// SPDX-License-Identifier: Apache-2.0
// How the publishing thread waits for reliable subscribers.
#include <algorithm>

#include "cardan/clock.hpp"
#include "src/base/futex.hpp"
#include "src/transport/endpoint/publisher_core.hpp"
#include "src/transport/protocol/reliable_protocol.hpp"

namespace cardan::detail {
namespace {

/// The subscribers of another user could each prove themselves and then stop in turn. Therefore a loss of patience with
/// one counts for all.
bool is_proven(const Attached& a) noexcept { return a.proven && a.proven_after == a.patience->losses; }

}  // namespace

bool PublisherCore::wait_for_reliable(std::uint64_t n) noexcept {
  bool in_time = true;
  const std::int64_t until = steady_now() + options_.reliable_timeout.count();
  table_.for_each([&](std::uint32_t i, Attached* a) noexcept {
    if (!a->reliable) return;
    const std::uint64_t cursor = std::max(a->floor, Native::load<Site::Q1>(a->page->cursor));
    if (a->demoted.load(std::memory_order_relaxed)) {
      if (cursor + 1 < n || steady_now() < a->patience->until_ns) return;
      a->demoted.store(false, std::memory_order_relaxed);  // it has caught up
    }
    if (!is_proven(*a) && cursor + 1 >= n && steady_now() >= a->patience->until_ns) {
      a->proven = true;
      a->proven_after = a->patience->losses;
    }
    if (n <= options_.depth || cursor >= n - options_.depth) return;
    if (!is_proven(*a) && steady_now() < a->patience->until_ns) return tell_demoted(*a);  // not waited for yet
    const bool arrived = wait_for_one(*a, i, n - options_.depth, until);
    if (arrived && table_.is(i, a)) return;
    lose_patience(*a->patience);  // also if it made us wait and then left
    if (arrived) return;
    tell_demoted(*a);
    hot_->reliable_timeouts.store(hot_->reliable_timeouts.load(std::memory_order_relaxed) + 1,
                                  std::memory_order_relaxed);
    in_time = false;
  });
  return in_time;
}

/// The first time it only has to catch up. A subscriber that times out repeatedly would cost a time-out each time, so
/// it stays demoted longer each time: 2, 4, … 512 time-outs.
void PublisherCore::lose_patience(Patience& p) const noexcept {
  constexpr std::uint32_t kMost = 9;
  constexpr std::int64_t kForgives = 60'000'000'000;  // ns
  const std::int64_t now = steady_now();
  if (now - p.until_ns > kForgives) p.demotions = 0;
  constexpr std::int64_t kLongestTimeout = 3'600'000'000'000;  // ns; of a time-out
  const std::int64_t timeout = std::min<std::int64_t>(options_.reliable_timeout.count(), kLongestTimeout);
  p.until_ns = p.demotions == 0 ? now : now + (timeout << std::min(p.demotions, kMost));
  ++p.demotions;
  ++p.losses;
}

void PublisherCore::tell_demoted(Attached& a) noexcept {
  a.demoted.store(true, std::memory_order_relaxed);
  attention_.store(true, std::memory_order_release);
  if (poke_helper) poke_helper();
}

bool PublisherCore::readers_leave_room(std::uint64_t n, std::int64_t until) noexcept {
  if (n <= options_.depth) return true;
  const std::uint64_t needed = n - options_.depth;
  bool all = true;
  table_.for_each([&](std::uint32_t i, Attached* a) noexcept {
    if (!all || !a->reliable || a->demoted.load(std::memory_order_relaxed)) return;
    if (std::max(a->floor, Native::load<Site::Q1>(a->page->cursor)) >= needed) return;
    if (!is_proven(*a) && steady_now() < a->patience->until_ns) return;
    all = wait_for_one(*a, i, needed, until);
  });
  return all;
}

bool PublisherCore::wait_for_one(Attached& a, std::uint32_t index, std::uint64_t needed, std::int64_t until) noexcept {
  constexpr std::int64_t kSlice = 5'000'000;  // bounds how late the death of the awaited subscriber is noticed (I18)
  bool arrived = false;
  for (;;) {
    std::uint32_t progress = 0;
    arrived = protocol::has_arrived<Native>(hot_->backpressure, a.page->progress, a.page->cursor, needed, progress) ||
              !table_.is(index, &a);
    const std::int64_t now = steady_now();
    if (arrived || now >= until) break;
    futex::wait(a.page->progress, progress, std::min(until, now + kSlice));
  }
  hot_->backpressure.store(0, std::memory_order_relaxed);
  return arrived;
}

}  // namespace cardan::detail
