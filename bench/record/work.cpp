// SPDX-License-Identifier: Apache-2.0
#include "bench/record/work.hpp"

#include <algorithm>
#include <limits>

#include "bench/transport/clock.hpp"

namespace cardan::bench::recording {

std::uint64_t do_unit(std::uint64_t steps, std::uint64_t seed) noexcept {
  // xorshift: each step needs the one before, so that neither compiler nor CPU makes it shorter.
  std::uint64_t x = seed | 1U;
  for (std::uint64_t i = 0; i < steps; ++i) {
    x ^= x << 13U;
    x ^= x >> 7U;
    x ^= x << 17U;
  }
  return x;
}

std::uint64_t calibrate_unit() noexcept {
  constexpr std::uint64_t kSteps = 100'000;
  constexpr int kTrials = 40;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::uint64_t seed = 1;
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::int64_t before = now_ns();
    seed = do_unit(kSteps, seed);
    least = std::min(least, now_ns() - before);
  }
  const auto steps = static_cast<std::uint64_t>(kSteps * static_cast<double>(kUnitNs) / static_cast<double>(least));
  return std::max<std::uint64_t>(1, seed == 0 ? steps + 1 : steps);  // the seed is never 0: it only has to be used
}

}  // namespace cardan::bench::recording
