// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <utility>

#include "cardan/recorder_report.hpp"

namespace cardan::record {

/// The newest report. One thread replaces it, any thread reads it; neither blocks for longer than a copy takes.
class LatestReport {
 public:
  /// Returns the report in its place: as only the caller's thread replaces it, that thread may read it without the
  /// lock.
  const RecorderReport& replace(RecorderReport report) {
    const std::lock_guard lock(mutex_);
    report_ = std::move(report);
    return report_;
  }
  [[nodiscard]] RecorderReport get() const {
    const std::lock_guard lock(mutex_);
    return report_;
  }

 private:
  mutable std::mutex mutex_;
  RecorderReport report_;  ///< written under mutex_
};

}  // namespace cardan::record
