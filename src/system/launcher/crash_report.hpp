// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace cardan::launcher {

/// The facts about a process that did not end in order.
struct CrashReport {
  std::string system{};
  std::string process{};
  pid_t pid = 0;
  std::string ending{};                  ///< in words
  std::string remedy{};                  ///< "": nothing general
  std::int64_t wall_ns = 0;              ///< when the launcher noticed it, wall clock
  std::int64_t lived_ns = 0;             ///< for how long it ran
  std::uint64_t restarts = 0;            ///< before this end
  std::string own_words{};               ///< what its crash handler wrote: component, callback, last samples, stack
  std::deque<std::string> last_lines{};  ///< of its output
  bool keeps_lines = true;               ///< false: its output went elsewhere
};

/// As a text for people.
[[nodiscard]] std::string text(const CrashReport& report);

/// The newest reports of a process that are kept; older ones of this user are removed.
inline constexpr std::size_t kMostReports = 20;

/// Writes it to `folder` (made if it is not there) as crash-PROCESS-TIME-PID.txt; the path. Throws Error (System). Any
/// thread; writes a file, and removes old ones.
[[nodiscard]] std::string write(const CrashReport& report, const std::string& folder);

/// "2026-11-22 04:18:45.123" in local time.
[[nodiscard]] std::string date_text(std::int64_t wall_ns);
/// "04:18:45.123" in local time.
[[nodiscard]] std::string clock_text(std::int64_t wall_ns);

}  // namespace cardan::launcher
