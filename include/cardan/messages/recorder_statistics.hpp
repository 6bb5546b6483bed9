// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/fixed_string.hpp"
#include "cardan/message.hpp"
#include "cardan/shm_vector.hpp"
#include "cardan/topic.hpp"

namespace cardan {

/// Counts of one topic's samples since the recording started.
struct RecordedTopic {
  FixedString<124> topic{};        ///< cut if longer
  std::uint64_t recorded = 0;      ///< samples on disk
  std::uint64_t lost = 0;          ///< samples
  std::uint64_t queued = 0;        ///< samples that wait or are being written
  std::uint64_t queued_bytes = 0;  ///< of those
};

/// A recorder's report on itself, published once a second, and each time after it has looked for topics.
struct RecorderStatistics {
  std::int64_t stamp = 0;                                              ///< nanoseconds since 1970
  std::uint64_t recorded = 0, lost = 0;                                ///< samples of all topics
  std::uint64_t bytes = 0;                                             ///< on disk, in all files
  std::int64_t write_p50_ns = 0, write_p99_ns = 0, write_most_ns = 0;  ///< from submission to completion of a write
  std::uint64_t free_bytes = 0;                                        ///< left on the disk
  /// When it last started to look for topics and then attached to those that it records; steady clock, nanoseconds.
  std::int64_t looked_ns = 0;
  bool paused = false;                ///< nothing is recorded until the pause ends
  FixedString<252> file{};            ///< the file that is being written; cut if longer
  shm::vector<RecordedTopic> topics;  ///< as many as fit
};

/// One stream for each recorder.
inline constexpr Topic<RecorderStatistics> kRecorderStatistics{
    "/cardan/record/statistics", {.max_bytes = 256 * sizeof(RecordedTopic), .max_memory = 1 << 20}};

}  // namespace cardan

CARDAN_STANDARD_MESSAGE_(cardan::RecordedTopic, "cardan_msgs/msg/RecordedTopic", topic, recorded, lost, queued,
                         queued_bytes);
CARDAN_STANDARD_MESSAGE_(cardan::RecorderStatistics, "cardan_msgs/msg/RecorderStatistics", stamp, recorded, lost, bytes,
                         write_p50_ns, write_p99_ns, write_most_ns, free_bytes, looked_ns, paused, file, topics);
