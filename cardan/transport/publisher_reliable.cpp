// SPDX-License-Identifier: Apache-2.0
// The publishing thread's waits for reliable readers.
#include <algorithm>

#include "cardan/memory/clock.hpp"
#include "cardan/memory/futex.hpp"
#include "cardan/transport/publisher_core.hpp"

namespace cardan::detail {

bool PublisherCore::wait_for_reliable(std::uint64_t n) noexcept {
  bool in_time = true;
  const std::int64_t until = steady_now() + options_.reliable_timeout.count();
  const std::uint32_t end = Native::load<Site::D4>(table_end_);
  for (std::uint32_t i = 0; i < end; ++i) {
    Attached* a = Native::load<Site::D2>(table_[i]);
    if (a == nullptr || !a->reliable) continue;
    const std::uint64_t cursor = std::max(a->floor, Native::load<Site::Q1>(a->page->cursor));
    if (a->demoted.load(std::memory_order_relaxed)) {
      if (cursor + 1 < n) continue;
      a->demoted.store(false, std::memory_order_relaxed);  // it has caught up
    }
    if (n <= options_.depth || cursor >= n - options_.depth) continue;
    if (wait_for_one(*a, i, n - options_.depth, until)) continue;
    a->demoted.store(true, std::memory_order_relaxed);
    attention_.store(true, std::memory_order_release);
    if (poke_helper) poke_helper();
    hot_->reliable_timeouts.store(hot_->reliable_timeouts.load(std::memory_order_relaxed) + 1,
                                  std::memory_order_relaxed);
    in_time = false;
  }
  return in_time;
}

bool PublisherCore::readers_leave_room(std::uint64_t n, std::int64_t until) noexcept {
  if (n <= options_.depth) return true;
  const std::uint64_t needed = n - options_.depth;
  const std::uint32_t end = Native::load<Site::D4>(table_end_);
  for (std::uint32_t i = 0; i < end; ++i) {
    Attached* a = Native::load<Site::D2>(table_[i]);
    if (a == nullptr || !a->reliable || a->demoted.load(std::memory_order_relaxed)) continue;
    if (std::max(a->floor, Native::load<Site::Q1>(a->page->cursor)) >= needed) continue;
    if (!wait_for_one(*a, i, needed, until)) return false;
  }
  return true;
}

bool PublisherCore::wait_for_one(Attached& a, std::uint32_t index, std::uint64_t needed, std::int64_t until) noexcept {
  constexpr std::int64_t kSlice = 5'000'000;  // how soon the death of the one waited for is noticed
  bool arrived = false;
  for (;;) {
    hot_->backpressure.store(1, std::memory_order_seq_cst);
    const std::uint32_t progress = a.page->progress.load(std::memory_order_seq_cst);
    arrived = Native::load<Site::Q1>(a.page->cursor) >= needed || Native::load<Site::D2>(table_[index]) != &a;
    const std::int64_t now = steady_now();
    if (arrived || now >= until) break;
    futex::wait(a.page->progress, progress, std::min(until, now + kSlice));
  }
  hot_->backpressure.store(0, std::memory_order_relaxed);
  return arrived;
}

}  // namespace cardan::detail
