// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cardan/detail/duration.hpp"

namespace cardan::record {

/// When a recorder writes to the disk.
enum class SchedulePolicy : std::uint8_t {
  Asap,   ///< waiting data is written at once: least memory, but writes may fall into the applications' cycles
  Paced,  ///< evenly, at the rate at which data comes
  Cycle,  ///< while the applications that mark their cycles idle; without hints as Paced
};
/// "asap", "paced", "cycle".
[[nodiscard]] std::string_view to_string(SchedulePolicy policy) noexcept;
/// The policy of that name; false: no such policy.
[[nodiscard]] bool parse(std::string_view name, SchedulePolicy& policy) noexcept;

/// Why the scheduler let something be written, or did not.
enum class WriteReason : std::uint8_t {
  Nothing,       ///< nothing waits
  Asap,          ///< the policy
  Paced,         ///< the policy
  IdleWindow,    ///< the applications idle
  QuietEnough,   ///< few of them compute, and the data has waited for long
  NoWindow,      ///< they compute all the time: evenly, before the data gets too old
  NoHints,       ///< no application gives hints: evenly
  Busy,          ///< nothing now: they compute, or will before a write would be done
  ForcedByAge,   ///< the oldest data has waited for `max_age`
  ForcedBySize,  ///< a queue is too full
};
/// How many values WriteReason has.
inline constexpr std::size_t kWriteReasons = 10;
/// "idle window", "forced by age", …
[[nodiscard]] std::string_view to_string(WriteReason reason) noexcept;

/// A scheduler's work so far.
struct ScheduleReport {
  SchedulePolicy policy = SchedulePolicy::Cycle;  ///< as the options set it

  /// The part of one reason.
  struct Share {
    std::uint64_t decisions = 0;  ///< made for it
    std::uint64_t bytes = 0;      ///< that were written for it
  };
  std::array<Share, kWriteReasons> reasons{};  ///< by WriteReason
  /// The part of this reason.
  [[nodiscard]] const Share& of(WriteReason reason) const noexcept { return reasons[static_cast<std::size_t>(reason)]; }
  std::uint64_t bytes = 0;             ///< issued
  double in_idle_windows = 0;          ///< share of these, 0 to 1
  std::int64_t longest_wait_ns = 0;    ///< of anything, when a decision was made
  double arriving = 0;                 ///< bytes per second, of the last second
  double disk_speed = 0;               ///< bytes per second while it had something to do; 0: not known
  std::uint64_t begins = 0;            ///< cycles whose start was seen
  std::uint64_t begins_in_writes = 0;  ///< of these: begun while writes were in flight

  /// A program or component that marks its cycles.
  struct Application {
    std::string name{};                    ///< of its Cycle, or of the component
    double weight = 1;                     ///< CycleOptions::weight
    bool alive = false;                    ///< its hints came until now
    bool busy = false;                     ///< it computes now
    bool regular = false;                  ///< its starts can be predicted
    std::uint64_t cycles = 0;              ///< that it has started
    std::uint64_t hints = 0;               ///< that were read, of two for each cycle
    std::int64_t period_ns = 0;            ///< from start to start, the recent mean or as stated; 0: not known
    std::int64_t period_deviation_ns = 0;  ///< mean distance from that
    std::int64_t busy_ns = 0;              ///< duration of a cycle, mean
    std::int64_t busy_deviation_ns = 0;    ///< mean distance from that
    std::int64_t begin_error_ns = 0;       ///< mean distance between a start and its prediction
  };
  std::vector<Application> applications{};  ///< those whose hints are read
  std::uint64_t hints = 0;                  ///< that were read, of all applications
  std::uint64_t absurd_hints = 0;           ///< that no honest application gives; not used
  std::uint64_t ignored_hints = 0;          ///< of more applications than there is room for
};

/// A table for people. Any thread; does not block.
[[nodiscard]] std::string to_text(const ScheduleReport& report);

/// When a recorder writes to the disk.
struct SchedulerOptions {
  /// Asap holds the least memory, Paced loads the disk evenly, and Cycle keeps out of the applications' way.
  SchedulePolicy policy = SchedulePolicy::Cycle;
  /// The longest that anything waits in memory. More finds more idle windows, holds more memory, and loses more when
  /// the computer loses power.
  std::chrono::nanoseconds max_age = std::chrono::milliseconds{250};
  /// Share of a queue's budget above which it is written even while applications compute. More uses more of the memory;
  /// less leaves more room for a disk that stalls.
  double force_share = 0.5;
  /// With `paced`: the time over which bursts are spread. More is more even and holds more memory. At most `max_age`.
  std::chrono::nanoseconds smoothing = std::chrono::milliseconds{100};
  /// With `cycle`: writes should finish this long before an application starts.
  std::chrono::nanoseconds margin = std::chrono::milliseconds{1};
  /// With `cycle`: share of the applications' weight that may compute in an idle window, 0 to 1. More finds more
  /// windows and disturbs more computing.
  double quiet_share = 0.1;
  /// Pacing issues no smaller writes, unless less data waits. Bytes. More costs less CPU and is less even.
  std::uint64_t least_write = 256 * 1024;
  /// The longest time between two looks at the hints while data waits. Less notices sooner that an application has
  /// ended its cycle early, and wakes the recorder more often.
  std::chrono::nanoseconds longest_look = std::chrono::milliseconds{5};
};

}  // namespace cardan::record
