// SPDX-License-Identifier: Apache-2.0
#include "cardan/detail/sample_clock.hpp"

#include "cardan/clock.hpp"

namespace cardan::detail {
namespace {
thread_local constinit const Atomic<std::int64_t>* simulated_here = nullptr;
}  // namespace

std::int64_t sample_clock_now() noexcept {
  return simulated_here == nullptr ? steady_now() : simulated_here->load(std::memory_order_relaxed);
}

SampleClock::SampleClock(const Atomic<std::int64_t>* simulated) noexcept : before_(simulated_here) {
  if (simulated != nullptr) simulated_here = simulated;
}
SampleClock::~SampleClock() { simulated_here = before_; }

}  // namespace cardan::detail
