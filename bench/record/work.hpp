// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cardan::bench::recording {

/// Work that only the CPU does: a unit takes 10 µs on a CPU that does nothing else.
inline constexpr std::int64_t kUnitNs = 10'000;

/// Steps that make a unit on the calling thread's CPU now: the least of several trials. Blocks for about 20 ms.
[[nodiscard]] std::uint64_t calibrate_unit() noexcept;

/// Does a unit of `steps` steps. Use the result, or the compiler leaves the work out.
[[nodiscard]] std::uint64_t do_unit(std::uint64_t steps, std::uint64_t seed) noexcept;

}  // namespace cardan::bench::recording
