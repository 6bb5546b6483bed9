// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/outgoing_topic.hpp"

#include <cmath>
#include <utility>

#include "cardan/error.hpp"
#include "src/bridge/wall_ahead.hpp"

namespace cardan::bridge {
namespace {

constexpr int kMostMalformed = 64;

AnyType type_of(const LocalTopic& topic) {
  auto type = AnyType::of_publisher(topic.type, topic.type_hash, topic.schema);
  if (!type)
    throw Error(ErrorCode::Incompatible, "the memory layout of " + topic.type + " does not follow from its schema",
                "avoid alignas and bit fields in messages that leave the computer");
  return std::move(*type);
}

}  // namespace

OutgoingTopic::OutgoingTopic(LocalTopic topic, TopicRule rule, OutgoingOptions options)
    : topic_(std::move(topic)),
      rule_(std::move(rule)),
      options_(std::move(options)),
      beyond_(name_beyond(rule_, topic_.name)),
      framer_(type_of(topic_)),
      period_ns_(rule_.max_hz > 0 ? std::llround(1e9 / rule_.max_hz) : 0) {}

void OutgoingTopic::open() {
  if (subscriber_) return;
  subscriber_.emplace(topic_.name, framer_.type().message_type(),
                      TopicOptions{.max_bytes = topic_.max_bytes, .access = options_.access},
                      SubscriberOptions{.domain = options_.domain,
                                        .holds = options_.holds,
                                        // The newest is wanted when the time has come.
                                        .depth = period_ns_ != 0 ? 1 : options_.depth,
                                        .reliable = options_.reliable && period_ns_ == 0,
                                        .background = true,
                                        .waiting = follow(),
                                        .not_via = options_.network});
}

void OutgoingTopic::close() { subscriber_.reset(); }

FramePtr OutgoingTopic::next(std::int64_t now) {
  if (!subscriber_ || now < due_ns_) return nullptr;
  // A hostile publisher's malformed messages must not keep us here.
  for (int tries = 0; tries < kMostMalformed; ++tries) {
    AnySample sample = subscriber_->take();
    if (!sample) break;
    (period_ns_ != 0 || options_.source_times ? counts_.thinned : counts_.lost) += sample.missed();
    if (!framer_.frame(sample)) {
      ++counts_.refused;
      continue;
    }
    // By time, not by count: a rate that does not divide the publisher's is kept on average.
    if (period_ns_ != 0) due_ns_ = now - due_ns_ < period_ns_ ? due_ns_ + period_ns_ : now + period_ns_;
    auto frame = std::make_shared<OutgoingFrame>();
    frame->cdr = framer_.take_parts();
    frame->steady_ns = sample.publish_time();
    frame->publish_ns = frame->steady_ns + wall_ahead();
    frame->source_ns = sample.source_time();
    if (options_.source_times) frame->publish_ns = frame->source_ns;
    frame->sequence = sample.sequence();
    frame->sample = std::move(sample);
    return frame;
  }
  return nullptr;
}

void OutgoingTopic::carried(const OutgoingFrame& frame, std::size_t copied) noexcept {
  ++counts_.carried;
  counts_.bytes += frame.size();
  counts_.copied += copied + frame.cdr.prefix.size() + frame.cdr.suffix.size();
}

}  // namespace cardan::bridge
