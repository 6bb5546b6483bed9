// SPDX-License-Identifier: Apache-2.0
// Hints and decisions allocate nothing. A separate program, because it replaces operator new to count.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "src/record/schedule/scheduler.hpp"

namespace {
std::atomic<std::uint64_t> allocations{0};
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace cardan::record {
namespace {

TEST(Scheduler, AllocatesNothingToDecide) {
  for (const SchedulePolicy policy : {SchedulePolicy::Asap, SchedulePolicy::Paced, SchedulePolicy::Cycle}) {
    Scheduler scheduler({.policy = policy});
    const std::uint64_t before = allocations.load();
    std::int64_t now = 1'000'000'000'000;
    std::uint64_t writes = 0;
    for (std::uint64_t i = 1; i < 5'000; ++i) {
      now += 1'000'000;
      CycleHint hint;
      hint.instance = i % 80;
      hint.name = "application";
      hint.count = i;
      hint.begin_ns = now;
      hint.busy = true;
      scheduler.hint(hint, now);
      scheduler.arrived(100'000, now);
      const Decision decision = scheduler.decide({200'000, now - 200'000'000, 0.1, 100'000}, now);
      if (decision.bytes == 0) continue;
      ++writes;
      scheduler.issued(200'000, now);
      scheduler.completed(200'000, now + 100'000);
    }
    EXPECT_EQ(allocations.load(), before);
    EXPECT_GT(writes, 0U);
  }
}

}  // namespace
}  // namespace cardan::record
