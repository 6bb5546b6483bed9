// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cardan/detail/duration.hpp"
#include "cardan/detail/function.hpp"
#include "cardan/topic.hpp"

namespace cardan::record {

/// A topic of the recording, and its published messages.
struct PlayedTopic {
  std::string topic{}, type{};              ///< names, the topic's as it is published
  std::optional<std::uint64_t> recorded{};  ///< messages that the files say they have; empty: one does not say it
  std::uint64_t published = 0;              ///< messages
  std::uint64_t failed = 0;                 ///< messages that could not be published
  std::string failure{};                    ///< the first of them, in words
  std::uint64_t subscribers = 0;            ///< now
};

/// A channel that is not played.
struct LeftOut {
  std::string file{}, topic{}, type{};  ///< the file's path, and the recorded names
  std::string why{};                    ///< the reason, in words
  bool by_design = false;               ///< nothing is missing: it is Cardan's own, or the player makes it itself
};

/// Where a player is, without its topics.
struct PlayerPosition {
  std::int64_t position_ns = 0;  ///< from the files' first message
  double rate = 1;               ///< seconds of the recording for each second
  bool paused = false;           ///< by the options, pause() or step()
  bool ended = false;            ///< all has been played
};

/// A player's work so far.
struct PlayerReport {
  std::vector<PlayedTopic> topics{};        ///< those that are played
  std::vector<LeftOut> left_out{};          ///< channels that are not
  std::vector<std::string> problems{};      ///< damage in the files, with its place
  std::vector<std::string> unfinished{};    ///< files that end in the middle, and where
  std::vector<std::string> notes{};         ///< remarks; nothing is missing
  std::uint64_t published = 0, failed = 0;  ///< messages of all topics

  std::int64_t start_ns = 0, end_ns = 0;  ///< of the played part, from the files' first message
  std::int64_t position_ns = 0;           ///< where it is, from the files' first message
  std::uint64_t first_time = 0;           ///< log time of that message, nanoseconds
  std::uint64_t lap = 0;                  ///< with PlayerOptions::loop: how often it has started again
  double rate = 1;                        ///< seconds of the recording for each second
  bool paused = false;                    ///< by the options, pause() or step()
  std::string waits_for{};                ///< topic whose reliable readers have no room; empty: none

  std::uint64_t timed = 0;  ///< messages that had a time
  /// How much later than its time each of these was published: percentiles within 25 %, and the most. Nanoseconds.
  std::int64_t late_p50 = 0, late_p99 = 0, late_most = 0;
  std::uint64_t gaps = 0;        ///< that were skipped
  std::int64_t skipped_ns = 0;   ///< by them in all, of the recording's time
  std::int64_t gave_way_ns = 0;  ///< by which the recording's time was made to wait in all
};

/// The player's time: the steady clock, except in tests.
class PlayTime {
 public:
  /// For wait(): no time limit.
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  PlayTime() = default;
  PlayTime(const PlayTime&) = delete;
  PlayTime& operator=(const PlayTime&) = delete;
  virtual ~PlayTime() = default;
  /// Nanoseconds of the steady clock.
  [[nodiscard]] virtual std::int64_t now() noexcept;
  /// Waits until `until` or a notification. May return early.
  virtual void wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, std::int64_t until);
};

/// A message that has just been published.
struct PlayedMessage {
  const std::string& topic;      ///< as it is published; valid during the call
  std::uint64_t log_time = 0;    ///< nanoseconds since 1970, as recorded
  std::int64_t position_ns = 0;  ///< in the recording, counted from the first message that is played, over all laps
  std::int64_t late_ns = 0;      ///< after its deadline; 0 if it had none
};

/// Which messages are played, and how.
struct PlayerOptions {
  double rate = 1;    ///< seconds of the recording for each second
  bool loop = false;  ///< from the start again, until stop()
  /// Plays only messages recorded at least this long after the files' first message …
  std::chrono::nanoseconds start{0};
  /// … and before this time.
  std::chrono::nanoseconds until = std::chrono::nanoseconds::max();
  /// Instead of these: log times, nanoseconds since 1970.
  std::optional<std::uint64_t> start_at{}, until_at{};
  std::vector<std::string> topics{};           ///< names, or patterns with `*` and `?`; empty: all
  std::vector<std::string> exclude{};          ///< names, or patterns
  std::map<std::string, std::string> remap{};  ///< recorded name → published name
  bool paused = false;                         ///< start paused

  /// No deadlines: plays each message as soon as all reliable subscribers have room for it. Implies `reliable`.
  bool as_fast_as_readers = false;
  /// A subscriber that asks for reliable delivery loses no message: if it is slower than the recording, all topics play
  /// slower. False: a slow subscriber loses samples, as in the vehicle.
  bool reliable = false;
  /// Depth of the topics. With more, subscribers may fall further behind before they lose samples; each costs a slot of
  /// memory. 0: that of the recorded topic (up to 64 MiB), but at least 10, or 4 for topics with messages above 1 MiB.
  std::uint32_t depth = 0;
  /// Users that may subscribe to the played topics. A wider choice lets more users read the recording.
  Access access = Access::Owner;
  std::string domain{};  ///< empty: $CARDAN_DOMAIN, or "default" if that is not set
  /// Rate at which /clock is published (as_fast_as_readers: in the recording's time); 0: not published.
  double clock_hz = 0;
  /// Starts when the topics have this many subscribers in total.
  std::uint32_t wait_for_readers = 0;
  /// Bytes to read ahead. This bridges stalls of the disk, and costs that much memory.
  std::size_t read_ahead_bytes = std::size_t{64} << 20;
  /// If the player is later than this, the time of the recording yields: the following messages keep their distances
  /// instead of coming at once.
  std::chrono::nanoseconds gives_way = std::chrono::milliseconds{100};

  /// If no message comes for longer than this in the recording, the next one comes at once: its clock was set, or
  /// nothing was recorded for long. 0: the gap is waited for.
  std::chrono::nanoseconds max_gap = std::chrono::minutes{10};

  /// For a viewer of a recording, not for programs that work with it. At the start and after a seek
  /// the newest message of each topic that is not later than the position comes at once, also in a pause. At the end it
  /// waits for a seek or stop(). source_time() is the log time.
  bool for_viewer = false;

  /// Called on the playing thread after each publication. Must return quickly.
  std::function<void(const PlayedMessage& message)> on_played{};
  std::shared_ptr<PlayTime> time{};  ///< empty: the real one
};

/// Publishes the messages of files in the order and at the distances of their log times, one after the other: no topic
/// overtakes another, even if a subscriber is slow. Messages are decoded straight into the slots that subscribers see.
/// Publish times are those of now. A sample's source_time() is its publisher's own stamp as it was recorded, or
/// the recorded publish time if it had none.
/// Thread safety: any thread; run() by one.
class Player {
 public:
  /// Opens the files and creates the publishers. Throws Error: InvalidArgument (options, no such topic, not an MCAP
  /// file), System (the disk), Unavailable (no run directory).
  /// Set-up; blocks, for long if a large file was never finished.
  Player(const std::vector<std::string>& files, PlayerOptions options);
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;
  ~Player();

  /// Plays to the end or to stop(). May be called once. Throws Error (System) if the disk fails.
  void run();

  /// Makes run() return soon. This and the following functions may be called by any thread, and do not wait for
  /// messages.
  void stop();
  /// True: holds the recording's time still after the message that is being published. False: it continues.
  void pause(bool paused);
  [[nodiscard]] bool paused() const;
  /// Pauses, and publishes `messages` more messages at once.
  void step(std::uint64_t messages = 1);
  /// Takes effect at the next message: continues from `after_first` after the files' first message, but not outside
  /// `start` and `until`.
  void seek(std::chrono::nanoseconds after_first);
  /// Throws Error (InvalidArgument) if `rate` is not above zero.
  void set_rate(double rate);

  /// The work so far. Counts subscribers, for which it takes each publisher's mutex.
  [[nodiscard]] PlayerReport report() const;
  /// A small part of the report, without its costs.
  [[nodiscard]] PlayerPosition position() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace cardan::record
