// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A recorder's report on itself, at any time. Plain structs.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cardan/schedule.hpp"

namespace cardan::record {

/// Why a sample that the recorder was responsible for is not in the file.
enum class LossCause : std::uint8_t {
  Lapped,      ///< the publisher was faster than this process got to run
  QueueFull,   ///< the topic's budget was used up: the disk is too slow for the data
  DiskSlow,    ///< it waited in the queue for longer than `queue_time`
  DiskFailed,  ///< the write failed, or an earlier one did
  TooLate,     ///< published before we were attached
  Malformed,   ///< its bytes are invalid, or its checksum is wrong
};
/// How many values LossCause has.
inline constexpr std::size_t kLossCauses = 6;

/// "queue full"
[[nodiscard]] const char* to_string(LossCause cause) noexcept;

/// A topic's part of a recording.
struct TopicReport {
  std::string topic{}, type{};                    ///< names
  std::uint64_t recorded = 0;                     ///< samples that are on disk, or on their way into the kernel's hands
  std::uint64_t bytes = 0;                        ///< of those, as they lie in the file
  std::array<std::uint64_t, kLossCauses> lost{};  ///< samples, by LossCause
  std::uint64_t refused = 0;            ///< publications that `access` does not accept, or that cannot be read
  std::uint64_t unreadable = 0;         ///< its publications with a type that cannot be recorded
  std::uint64_t left_out = 0;           ///< on purpose: every n-th, rate limit, pause
  std::uint64_t queued = 0;             ///< samples that wait, or are being written
  std::uint64_t queued_bytes = 0;       ///< of them
  std::uint64_t held = 0;               ///< of them, in the publisher's slots
  std::uint64_t most_queued_bytes = 0;  ///< the most that was queued at once
  std::string problem{};                ///< why it is not recorded, or no longer recorded
  /// Sum of `lost`.
  [[nodiscard]] std::uint64_t lost_in_all() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t n : lost) sum += n;
    return sum;
  }
};

/// Durations in nanoseconds: how many, their sum, percentiles within 25 %, and the longest.
struct DurationReport {
  std::uint64_t count = 0;
  std::int64_t sum = 0, p50 = 0, p99 = 0, most = 0;
};

/// The wall clock was set while the recorder ran. Log times are not affected: they continue by the steady clock.
struct ClockStep {
  std::uint64_t log_time = 0;  ///< when it was noticed
  std::int64_t by_ns = 0;      ///< forward; negative: back
};

/// A recorder's work so far.
struct RecorderReport {
  std::string file{};                    ///< that is being written
  std::vector<std::string> files{};      ///< that are finished
  std::string mode{};                    ///< how the disk is written, in words
  std::vector<TopicReport> topics{};     ///< also those that cannot be recorded
  std::uint64_t recorded = 0, lost = 0;  ///< samples of all topics
  std::uint64_t refused = 0;             ///< publications of topics that were asked for by name
  std::uint64_t unreadable = 0;        ///< publications whose type cannot be recorded, of topics that are recorded else
  std::vector<std::string> missing{};  ///< asked for by their whole names, and no message of them came
  std::uint64_t bytes = 0;             ///< in all files, as far as they are on disk
  std::uint64_t copied_bytes = 0;      ///< that this process copied on their way: small samples and seams
  std::uint64_t own_bytes = 0;         ///< memory of the recorder's buffers
  std::uint64_t held_bytes = 0;        ///< in publishers' slots
  std::uint64_t in_flight_bytes = 0;   ///< that are being written now
  std::uint64_t free_bytes = 0;        ///< left on the disk
  std::int64_t duration_ns = 0;        ///< since the start
  std::int64_t ready_ns = 0;           ///< from the start until the topics that were there were attached; 0: not yet
  std::uint64_t causes_left_out = 0;   ///< samples whose origin and cause are not in the files: the disk is too slow
  std::vector<ClockStep> clock_steps{};  ///< in the order in which they were noticed
  DurationReport write{};                ///< from the submission of a write to its completion
  DurationReport submit{};               ///< in the system call that submits
  DurationReport path{};                 ///< of a sample, from its publication to its completion on disk
  bool paused = false;                   ///< nothing is recorded until the pause ends
  bool no_clock = false;      ///< `simulated_clock`, but no message of /clock has come: nothing can be recorded
  bool triggered = false;     ///< of a flight recorder
  ScheduleReport schedule{};  ///< when and why the disk was written
  std::string failure{};      ///< why the recording ended by itself
};

}  // namespace cardan::record
