// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace cardan::record {

/// The time under which samples are recorded: the wall clock's, or a simulation's. Plain data.
struct RecordingTime {
  std::int64_t ahead = 0;                   ///< of the wall clock to the steady one
  std::optional<std::int64_t> simulated{};  ///< what the simulated clock said last, if that one counts

  /// Nanoseconds of a steady stamp in the file: since 1970, or since whatever the simulation begins with.
  [[nodiscard]] std::uint64_t of(std::int64_t steady_ns) const noexcept {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(simulated.value_or(steady_ns + ahead), 0));
  }
};

}  // namespace cardan::record
