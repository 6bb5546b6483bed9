// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cardan/record/player/player_report.hpp"
#include "cardan/transport/topic.hpp"

namespace cardan::record {

/// Time as the player sees it: the steady clock, but for tests.
class PlayTime {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  PlayTime() = default;
  PlayTime(const PlayTime&) = delete;
  PlayTime& operator=(const PlayTime&) = delete;
  virtual ~PlayTime() = default;
  /// Nanoseconds of the steady clock.
  [[nodiscard]] virtual std::int64_t now() noexcept;
  /// Waits until `until`, or until somebody notifies. May come back early.
  virtual void wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, std::int64_t until);
};

/// A message that has just been published.
struct PlayedMessage {
  const std::string& topic;
  std::uint64_t log_time = 0;
  std::int64_t position_ns = 0;  ///< of the recording, from the first message that is played, all laps counted
  std::int64_t late_ns = 0;      ///< behind its deadline; 0 where it had none
};

struct PlayerOptions {
  double rate = 1;    ///< so many seconds of the recording in one second
  bool loop = false;  ///< from the beginning again, until stop()
  /// Only what was recorded from so long after the files' first message on …
  std::chrono::nanoseconds start{0};
  /// … and before that.
  std::chrono::nanoseconds until = std::chrono::nanoseconds::max();
  std::vector<std::string> topics{};           ///< names, or patterns with `*` and `?`; empty: all
  std::vector<std::string> exclude{};          ///< names, or patterns
  std::map<std::string, std::string> remap{};  ///< recorded name → the one to publish it as
  bool paused = false;                         ///< begin so

  /// No deadlines: each message as soon as all reliable readers have room for it. Implies `reliable`.
  bool as_fast_as_readers = false;
  /// Nobody who asks for reliable delivery loses a message: a reader that is slower than the recording makes it play
  /// slower, all topics alike. Else a slow reader loses what it is too slow for, as in the vehicle.
  bool reliable = false;
  /// Of the topics. More: readers may fall further behind before they lose something; each costs a slot of memory. 0:
  /// 10, of topics with messages above 1 MiB 4.
  std::uint32_t depth = 0;
  Access access = Access::Owner;
  std::string domain{};  ///< empty: $CARDAN_DOMAIN, else "default"

  double clock_hz = 0;  ///< publish /clock so often (as_fast_as_readers: in the recording's time); 0: not
  /// Begin when the topics have so many readers in all.
  std::uint32_t wait_for_readers = 0;
  /// Read ahead so far: rides over a disk that stalls, and costs that memory.
  std::size_t read_ahead_bytes = std::size_t{64} << 20;
  /// Later than this the time of the recording gives way: what follows keeps its distances instead of coming at once.
  std::chrono::nanoseconds gives_way = std::chrono::milliseconds{100};

  /// Called on the playing thread after each publication. Must be quick.
  std::function<void(const PlayedMessage& message)> on_played{};
  std::shared_ptr<PlayTime> time{};  ///< empty: the real one
};

/// Publishes what files hold, in the order and at the distances of their log times, one message after the other: no
/// topic overtakes another one, whoever is slow. Messages are decoded straight into the slots that readers see. Publish
/// times are those of now; a sample's source_time() is its publisher's own stamp as it was recorded; where it gave
/// none, the publish time that was recorded. Thread safety: any thread; run() by one.
class Player {
 public:
  /// Opens the files and creates the publishers. Throws Error: InvalidArgument (options, no such topic, no MCAP file),
  /// System (the disk), Unavailable (no run directory). Set-up; blocks, long for a large file that nobody finished.
  Player(const std::vector<std::string>& files, PlayerOptions options);
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;
  ~Player();

  /// Plays to the end or to stop(). Once. Throws Error (System): the disk fails.
  void run();

  // Any thread; none of them waits for anything.
  void stop();
  void pause(bool paused);
  [[nodiscard]] bool paused() const;
  /// Pauses, and publishes so many messages more at once.
  void step(std::uint64_t messages = 1);
  /// Goes on from so long after the files' first message, at the next message; no further than `start` and `until`.
  void seek(std::chrono::nanoseconds after_first);
  /// Throws Error (InvalidArgument): it is not above zero.
  void set_rate(double rate);

  [[nodiscard]] PlayerReport report() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace cardan::record
