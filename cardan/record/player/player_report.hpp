// SPDX-License-Identifier: Apache-2.0
// A player's report on itself, at any time. Plain structs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cardan::record {

/// A topic of the recording, and what was published of it.
struct PlayedTopic {
  std::string topic{}, type{};
  std::optional<std::uint64_t> recorded{};  ///< messages that the files say they have; empty: one does not say it
  std::uint64_t published = 0;
  std::uint64_t failed = 0;       ///< messages that could not be published
  std::string failure{};          ///< the first of them, in words
  std::uint64_t subscribers = 0;  ///< now
};

/// A channel that is not played.
struct LeftOut {
  std::string file{}, topic{}, type{};
  std::string why{};
  bool by_design = false;  ///< nothing is missing: it is Cardan's own, or the player makes it itself
};

/// Where a player is, without its topics.
struct PlayerPosition {
  std::int64_t position_ns = 0;  ///< from the files' first message
  double rate = 1;
  bool paused = false;
  bool ended = false;  ///< all has been played
};

/// A player's work so far.
struct PlayerReport {
  std::vector<PlayedTopic> topics{};
  std::vector<LeftOut> left_out{};
  std::vector<std::string> problems{};    ///< damage in the files, with its place
  std::vector<std::string> unfinished{};  ///< files that end in the middle, and where
  std::vector<std::string> notes{};       ///< what is remarkable, and nothing is missing
  std::uint64_t published = 0, failed = 0;

  std::int64_t start_ns = 0, end_ns = 0;  ///< of what is played, from the files' first message
  std::int64_t position_ns = 0;           ///< where it is, from the files' first message
  std::uint64_t first_time = 0;           ///< log time of that message, nanoseconds
  std::uint64_t lap = 0;
  double rate = 1;
  bool paused = false;
  std::string waits_for{};  ///< topic whose reliable readers have no room; empty: none

  /// How much later than its time each message was published: percentiles within 25 %. Nanoseconds.
  std::uint64_t timed = 0;  ///< messages that had a time
  std::int64_t late_p50 = 0, late_p99 = 0, late_most = 0;
  std::uint64_t gaps = 0;        ///< that were skipped
  std::int64_t skipped_ns = 0;   ///< by them in all, of the recording's time
  std::int64_t gave_way_ns = 0;  ///< by which the recording's time was made to wait in all
};

}  // namespace cardan::record
