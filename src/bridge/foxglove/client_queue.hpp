// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "src/bridge/outgoing_topic.hpp"

namespace cardan::bridge::foxglove {

/// Messages up to this size are copied when they are taken: they then hold no slot, and more of them may wait.
inline constexpr std::size_t kSmallBytes = 16 << 10;
inline constexpr std::size_t kSmallOfOneChannel = 64;
inline constexpr std::size_t kSmallOfOneClient = 4 << 20;  ///< bytes

/// One client's subscriptions, and the messages that wait for it: of each channel the newest `depth` messages, and
/// never more. The channels take turns, so a fast one does not keep the others from a slow client. Thread safety: none.
/// No function blocks.
class ClientQueue {
 public:
  enum class Subscribed : std::uint8_t { Yes, IdIsTaken, ChannelIsTaken };
  /// `depth`: messages of the channel that wait at most, if they are large; at least 1.
  Subscribed subscribe(std::uint32_t id, std::uint32_t channel, std::size_t depth);
  /// Returns the channel. Empty: no subscription has this id.
  std::optional<std::uint32_t> unsubscribe(std::uint32_t id);
  [[nodiscard]] std::optional<std::uint32_t> channel_of(std::uint32_t id) const;
  /// The channel has gone.
  void drop(std::uint32_t channel);
  [[nodiscard]] bool subscribes(std::uint32_t channel) const { return channels_.contains(channel); }

  /// A new message of a channel to which the client subscribes. Returns how many waiting ones gave way to it.
  std::size_t offer(std::uint32_t channel, const FramePtr& frame);

  struct Next {
    std::uint32_t id = 0, channel = 0;
    FramePtr frame{};
  };
  /// The message that goes next; it waits no longer.
  [[nodiscard]] std::optional<Next> next();

  [[nodiscard]] std::size_t waiting() const;

 private:
  struct Channel {
    std::uint32_t id = 0;
    std::size_t depth = 1;
    std::deque<FramePtr> frames{};
    std::size_t large = 0;  ///< of `frames`
  };
  void pop(Channel& channel);

  std::map<std::uint32_t, Channel> channels_;
  std::map<std::uint32_t, std::uint32_t> channel_of_;  ///< by the subscription's id
  std::set<std::uint32_t> ready_;                      ///< channels with messages
  std::uint32_t turn_ = 0;                             ///< the channel that was the last one
  std::size_t small_bytes_ = 0;
};

}  // namespace cardan::bridge::foxglove
