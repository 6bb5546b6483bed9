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

void PlacedFrames::make(Made made) {
  publisher_.emplace(made.topic, PublisherOptions{.domain = made.domain});
  made_ = std::move(made);
}

void PlacedFrames::grow(Made made) {
  const Made before = std::exchange(made_, {});
  publisher_.reset();  // the topic may be for one publisher only
  changed_ = true;
  try {
    make(std::move(made));
  } catch (...) {
    if (before.room != 0) {
      try {
        make(before);
        publish();
      } catch (const Error&) {  // the next prepare() tries again
      }
    }
    throw;
  }
}

void PlacedFrames::prepare(const config::Configuration& configuration) {
  std::vector<TransformStamped> next = detail::stamped(configuration.transforms);
  if (next.size() > made_.room) {
    const std::size_t room = std::max(kLeastRoom, 2 * next.size());
    grow({.topic = topic_of(configuration, room), .domain = configuration.domain, .room = room});
  }
  changed_ = changed_ || !std::equal(next.begin(), next.end(), next_.begin(), next_.end(), same);
  next_ = std::move(next);
}

void PlacedFrames::publish() noexcept {
  if (!changed_) return;
  if (next_.empty()) {
    publisher_.reset();
    made_.room = 0;
    changed_ = false;
    return;
  }
  if (!publisher_) return;
  Loan<TransformMessage> loan = publisher_->loan();
  if (loan && detail::fill(*loan, next_)) changed_ = !publisher_->publish(std::move(loan));
}

}  // namespace cardan::launcher
