// SPDX-License-Identifier: Apache-2.0
// Orders from one `cardan play` to another: an ordinary topic of the domain.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace cardan::apps {

struct PlayOrder {
  enum class Action : std::uint8_t { Pause, Resume, Step, Rate, Seek, Stop };
  Action action = Action::Pause;
  double value = 0;  ///< Step: messages; Rate: seconds in one second; Seek: seconds after the first message
};

/// Of "pause", "resume", "step", "step=N", "rate=X", "seek=SECONDS", "stop". Throws Error (InvalidArgument).
[[nodiscard]] PlayOrder play_order(const std::string& text);

/// Tells every player of the domain. False: no player runs. Throws Error. Blocks, at most two seconds.
bool tell_players(const std::string& domain, const PlayOrder& order);

/// The player's ear. Throws Error.
class PlayControl {
 public:
  explicit PlayControl(const std::string& domain);
  PlayControl(const PlayControl&) = delete;
  PlayControl& operator=(const PlayControl&) = delete;
  ~PlayControl();
  /// The next order. Skips orders that are malformed. Does not block.
  [[nodiscard]] std::optional<PlayOrder> next();

 private:
  struct Ear;
  std::unique_ptr<Ear> ear_;
};

}  // namespace cardan::apps
