// SPDX-License-Identifier: Apache-2.0
// The losses of a callback, for tables: in one place, so that all views agree on it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/system/host/component_report.hpp"
#include "src/system/host/watchdog.hpp"

namespace cardan::apps {

/// Samples that an input did not get.
[[nodiscard]] inline std::uint64_t lost_of(const host::CallbackReport& callback) noexcept {
  return callback.queue_full + callback.kept + callback.missed + callback.skipped;
}

/// Whether it has not come back for long enough that its process has reported it.
[[nodiscard]] inline bool hangs(const host::CallbackReport& callback) noexcept {
  return callback.running_since > host::Watchdog::kHangs.count();
}

/// For each callback that hangs a line with its component, and for how long.
[[nodiscard]] std::string hanging_callbacks(const std::vector<host::ComponentReport>& components);

/// The cell DROPPED. "0" only where nothing was: any other text is trouble to a table.
[[nodiscard]] inline std::string dropped_text(const host::CallbackReport& callback) {
  const bool input = callback.kind != host::CallbackReport::Kind::Timer;
  std::string text = std::to_string(input ? callback.queue_full + callback.kept : callback.overruns);
  if (!input && callback.overruns != 0) text += " skipped";
  if (callback.kept != 0) text += " (" + std::to_string(callback.kept) + " kept)";
  if (callback.unanswered != 0) text += " (" + std::to_string(callback.unanswered) + " unanswered)";
  if (callback.skipped != 0) text += " (" + std::to_string(callback.skipped) + " skipped)";
  return text;
}

}  // namespace cardan::apps
