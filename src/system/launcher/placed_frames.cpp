// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/placed_frames.hpp"

#include <algorithm>
#include <utility>

#include "src/transforms/stamped_transforms.hpp"

namespace cardan::launcher {
namespace {

bool same(const TransformStamped& a, const TransformStamped& b) noexcept {
  return a.header.frame_id == b.header.frame_id && a.child_frame_id == b.child_frame_id && a.transform == b.transform;
}

/// For plans to come, which may have more.
constexpr std::size_t kLeastRoom = 100;

/// The file may change the topic for its components, but here nothing waits.
Topic<TransformMessage> topic_of(const config::Configuration& configuration, std::size_t room) {
  Topic<TransformMessage> topic = detail::with_room_for(kStaticTransforms, room);
  const std::size_t bytes = topic.options.max_bytes;
  topic.options = configuration.options_of(topic.name, topic.options);
  topic.options.max_bytes = std::max(topic.options.max_bytes, bytes);
  topic.options.reliable = topic.options.process_private = false;
  return topic;
}

}  // namespace

void PlacedFrames::prepare(const config::Configuration& configuration) {
  std::vector<TransformStamped> next = detail::stamped(configuration.transforms);
  if (next.size() > room_) {
    const std::size_t room = std::max(kLeastRoom, 2 * next.size());
    publisher_.reset();  // the topic may be for one publisher only
    room_ = 0;
    publisher_.emplace(topic_of(configuration, room), PublisherOptions{.domain = configuration.domain});
    room_ = room;
  }
  changed_ = changed_ || !std::equal(next.begin(), next.end(), next_.begin(), next_.end(), same);
  next_ = std::move(next);
}

void PlacedFrames::publish() noexcept {
  if (!std::exchange(changed_, false)) return;
  if (next_.empty()) {
    publisher_.reset();
    room_ = 0;
    return;
  }
  Loan<TransformMessage> loan = publisher_->loan();
  if (loan && detail::fill(*loan, next_)) publisher_->publish(std::move(loan));
}

}  // namespace cardan::launcher
