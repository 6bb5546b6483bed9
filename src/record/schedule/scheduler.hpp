// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "cardan/messages/cycle_hint.hpp"
#include "cardan/schedule.hpp"
#include "src/record/schedule/applications.hpp"
#include "src/record/schedule/arrivals.hpp"
#include "src/record/schedule/disk_speed.hpp"
#include "src/record/schedule/pacer.hpp"

namespace cardan::record {

/// The bytes that the recorder holds. Of samples in the publisher's memory the bytes count as if they were here.
struct Backlog {
  std::uint64_t bytes = 0;            ///< that wait and are not issued
  std::int64_t oldest_ns = 0;         ///< when the oldest of them came; 0: nothing waits
  double fullest_share = 0;           ///< of its budget, of the fullest queue: 0 to 1
  std::uint64_t in_flight_bytes = 0;  ///< issued and not completed
};

struct Decision {
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  /// Issue whole samples until they have this many bytes or more, or none is left: the oldest first, and with
  /// ForcedBySize those of the fullest queue first. 0: nothing; kAll: everything.
  std::uint64_t bytes = 0;
  /// Decide again then, or earlier: when a sample comes, when writes are completed.
  std::int64_t look_again_ns = 0;
  WriteReason why = WriteReason::Nothing;
};

/// Decides when the recorder writes (SPEED, III.B: "context-aware I/O scheduler"). It learns from hints when each
/// application computes and when it idles, and lets data go in the windows in which those that matter idle, as much as
/// the disk takes before one of them starts. The older the backlog and the fuller the queues, the less quiet it has to
/// be; from half of `max_age` on it is written evenly, and at its end, or when a queue is too full, at once. Hints can
/// therefore delay, never prevent; those of applications that went silent do not count.
///
/// It has no clock of its own: all times are nanoseconds of the steady clock, and do not go backwards. A recorder calls
/// hint() for each new hint and then decide(), and reports what it did by arrived(), issued() and completed().
/// One thread; does not block, allocates nothing but in explain().
class Scheduler {
 public:
  /// Throws Error (InvalidArgument) for options that make no sense.
  explicit Scheduler(const SchedulerOptions& options = {});

  /// An application's hint; it need not be true. `published_ns`: Sample::publish_time(), for a program whose steady
  /// clock is another (a container with a time namespace); 0: the clock is this one.
  void hint(const CycleHint& hint, std::int64_t now, std::int64_t published_ns = 0) noexcept;
  /// A sample has come that is to be written.
  void arrived(std::uint64_t bytes, std::int64_t now) noexcept;
  [[nodiscard]] Decision decide(const Backlog& backlog, std::int64_t now) noexcept;
  /// This many bytes were issued after the last decision.
  void issued(std::uint64_t bytes, std::int64_t now) noexcept;
  /// This many bytes are on the disk, or failed to get there.
  void completed(std::uint64_t bytes, std::int64_t now) noexcept;

  [[nodiscard]] const SchedulerOptions& options() const noexcept { return options_; }
  /// Its work until now, and its knowledge. Allocates.
  [[nodiscard]] ScheduleReport explain(std::int64_t now) const;

 private:
  [[nodiscard]] Decision choose(const Backlog& backlog, std::int64_t now) noexcept;
  [[nodiscard]] Decision by_cycle(const Backlog& backlog, std::int64_t age, double fullness, std::int64_t now) noexcept;
  [[nodiscard]] std::uint64_t bytes_that_fit(const Backlog& backlog, std::int64_t until, double pressure,
                                             std::int64_t now) const noexcept;
  [[nodiscard]] Decision paced(WriteReason why, const schedule::Arrivals& arrivals, std::int64_t horizon,
                               const Backlog& backlog, std::int64_t now) noexcept;

  SchedulerOptions options_;
  std::int64_t max_age_;
  schedule::Applications applications_;
  schedule::Arrivals ages_;    ///< fine enough for max_age
  schedule::Arrivals recent_;  ///< and for smoothing
  schedule::ArrivalRate rate_;
  schedule::Pacer pacer_;
  schedule::DiskSpeed disk_;
  double sample_bytes_ = 0;  ///< of a sample, lately
  WriteReason last_ = WriteReason::Nothing;

  std::array<ScheduleReport::Share, kWriteReasons> reasons_{};
  std::int64_t longest_wait_ns_ = 0;
  std::uint64_t begins_ = 0;
  std::uint64_t begins_in_writes_ = 0;
};

}  // namespace cardan::record
