// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/base/duration.hpp"
#include "cardan/record/schedule/report.hpp"

namespace cardan::record {

/// When a recorder writes to the disk.
struct SchedulerOptions {
  SchedulePolicy policy = SchedulePolicy::Cycle;
  /// The longest that anything waits in memory. More finds more idle windows, holds more memory, and loses more when
  /// the computer loses power.
  std::chrono::nanoseconds max_age = std::chrono::milliseconds{250};
  /// Share of a queue's budget from which on it is written whatever the applications do. More uses the memory that is
  /// there; less leaves more room for a disk that stalls.
  double force_share = 0.5;
  /// With `paced`: over how long bursts are spread. More is more even and holds more memory. At most `max_age`.
  std::chrono::nanoseconds smoothing = std::chrono::milliseconds{100};
  /// With `cycle`: writes should finish this long before an application starts.
  std::chrono::nanoseconds margin = std::chrono::milliseconds{1};
  /// With `cycle`: share of the applications' weight that may compute in what counts as an idle window, 0 to 1.
  double quiet_share = 0.1;
  /// Pacing lets nothing smaller go, unless nothing more is there. More costs less CPU and is less even.
  std::uint64_t least_write = 256 * 1024;
  /// The longest between two looks at the hints while something waits. Less notices sooner that an application was
  /// through early, and wakes the recorder more often.
  std::chrono::nanoseconds longest_look = std::chrono::milliseconds{5};
};

}  // namespace cardan::record
