// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/detail/atomic.hpp"

namespace cardan::detail {

/// The clock of Sample::age() on this thread: the steady clock, or that of a simulation whose callback runs here.
[[nodiscard]] std::int64_t sample_clock_now() noexcept;

/// While it lives, samples age by this clock on this thread. Null: no change. Never blocks.
class SampleClock {
 public:
  explicit SampleClock(const Atomic<std::int64_t>* simulated) noexcept;
  SampleClock(const SampleClock&) = delete;
  SampleClock& operator=(const SampleClock&) = delete;
  ~SampleClock();

 private:
  const Atomic<std::int64_t>* before_;
};

}  // namespace cardan::detail
