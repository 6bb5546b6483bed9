// SPDX-License-Identifier: Apache-2.0
// A time of a recording as an option gives it: seconds from its first message, or a date.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cardan::replay {

struct RecordedTime {
  double seconds = 0;                 ///< from the first message
  std::optional<std::uint64_t> at{};  ///< instead: log time, nanoseconds since 1970
  std::string text{};                 ///< as it was given

  /// The log time, for a recording that begins at `first`.
  [[nodiscard]] std::uint64_t log_time(std::uint64_t first) const;
};

/// "12.5", or RFC 3339: "2026-11-22T10:02:01.5Z", "2026-11-22 12:02:01+02:00". Empty: it is neither.
[[nodiscard]] std::optional<RecordedTime> recorded_time(const std::string& text);

/// Why an option cannot take it; empty: it can.
[[nodiscard]] std::string problem_of_recorded_time(const std::string& text);
/// CLI11 finds it by its arguments.
bool lexical_cast(const std::string& text, RecordedTime& time);

}  // namespace cardan::replay
