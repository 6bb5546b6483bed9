// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/client_queue.hpp"

#include <algorithm>
#include <utility>

namespace cardan::bridge::foxglove {
namespace {

bool is_small(const OutgoingFrame& frame) { return frame.size() <= kSmallBytes; }

}  // namespace

ClientQueue::Subscribed ClientQueue::subscribe(std::uint32_t id, std::uint32_t channel, std::size_t depth) {
  if (channel_of_.contains(id)) return Subscribed::IdIsTaken;
  if (channels_.contains(channel)) return Subscribed::ChannelIsTaken;
  channel_of_.emplace(id, channel);
  channels_.emplace(channel, Channel{.id = id, .depth = std::max<std::size_t>(depth, 1)});
  return Subscribed::Yes;
}

std::optional<std::uint32_t> ClientQueue::channel_of(std::uint32_t id) const {
  const auto it = channel_of_.find(id);
  return it == channel_of_.end() ? std::nullopt : std::optional(it->second);
}

std::optional<std::uint32_t> ClientQueue::unsubscribe(std::uint32_t id) {
  const auto it = channel_of_.find(id);
  if (it == channel_of_.end()) return std::nullopt;
  const std::uint32_t channel = it->second;
  drop(channel);
  return channel;
}

void ClientQueue::drop(std::uint32_t channel) {
  const auto it = channels_.find(channel);
  if (it == channels_.end()) return;
  while (!it->second.frames.empty()) pop(it->second);
  ready_.erase(channel);
  channel_of_.erase(it->second.id);
  channels_.erase(it);
}

void ClientQueue::pop(Channel& channel) {
  const OutgoingFrame& frame = *channel.frames.front();
  if (is_small(frame))
    small_bytes_ -= frame.size();
  else
    --channel.large;
  channel.frames.pop_front();
}

std::size_t ClientQueue::offer(std::uint32_t channel, const FramePtr& frame) {
  Channel& c = channels_.at(channel);
  const bool small = is_small(*frame);
  std::size_t gave_way = 0;
  const auto full = [&] {
    if (c.frames.empty()) return false;
    if (!small) return c.large >= c.depth;
    return c.frames.size() >= std::max(c.depth, kSmallOfOneChannel) || small_bytes_ + frame->size() > kSmallOfOneClient;
  };
  for (; full(); ++gave_way) pop(c);
  c.frames.push_back(frame);
  if (small)
    small_bytes_ += frame->size();
  else
    ++c.large;
  ready_.insert(channel);
  return gave_way;
}

std::optional<ClientQueue::Next> ClientQueue::next() {
  if (ready_.empty()) return std::nullopt;
  auto it = ready_.upper_bound(turn_);
  if (it == ready_.end()) it = ready_.begin();
  turn_ = *it;
  Channel& c = channels_.at(turn_);
  Next next{.id = c.id, .channel = turn_, .frame = c.frames.front()};
  pop(c);
  if (c.frames.empty()) ready_.erase(it);
  return next;
}

std::size_t ClientQueue::waiting() const {
  std::size_t all = 0;
  for (const std::uint32_t channel : ready_) all += channels_.at(channel).frames.size();
  return all;
}

}  // namespace cardan::bridge::foxglove
