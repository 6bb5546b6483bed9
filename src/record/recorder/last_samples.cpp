// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/last_samples.hpp"

#include <algorithm>
#include <utility>

namespace cardan::record {

Keep LastSamples::keep(std::uint64_t stream, std::uint64_t bytes, std::int64_t publish_ns) noexcept {
  Keep keep{.stream = stream, .depth = depth_};
  if (bytes < kLarge) return keep;
  keep.whole = last_large_ns_ == 0 || publish_ns - last_large_ns_ >= kRare;
  last_large_ns_ = publish_ns;
  return keep;
}

LastSamples::Stream& LastSamples::stream(std::uint64_t id) {
  const auto found = std::find_if(streams_.begin(), streams_.end(), [id](const Stream& s) { return s.id == id; });
  if (found != streams_.end()) {
    streams_.splice(streams_.end(), streams_, found);
  } else {
    if (streams_.size() == kMostStreams) {
      forget(streams_.front());
      streams_.pop_front();
    }
    streams_.push_back({.id = id});
  }
  return streams_.back();
}

void LastSamples::forget_first(Stream& stream) noexcept {
  bytes_ -= stream.messages.front().data.size();
  stream.messages.pop_front();
}

void LastSamples::forget(Stream& stream) noexcept {
  while (!stream.messages.empty()) forget_first(stream);
}

void LastSamples::add(KeptMessage message) {
  Stream& own = stream(message.stream);
  if (!message.whole) {
    forget(own);  // a late subscriber is not given older ones without it
    passed_ = std::move(message);
    return;
  }
  passed_.reset();
  bytes_ += message.data.size();
  own.messages.push_back(std::move(message));
  while (own.messages.size() > depth_) forget_first(own);
  for (Stream& one : streams_)
    while (bytes_ > kMostBytes && one.messages.size() > (&one == &own ? 1U : 0U)) forget_first(one);
}

std::optional<KeptMessage> LastSamples::take_quiet(std::int64_t now) noexcept {
  if (!passed_ || now - last_large_ns_ < kRare) return std::nullopt;
  return std::exchange(passed_, std::nullopt);
}

void LastSamples::list(std::vector<const KeptMessage*>& into) const {
  for (const Stream& stream : streams_)
    for (const KeptMessage& message : stream.messages) into.push_back(&message);
}

}  // namespace cardan::record
