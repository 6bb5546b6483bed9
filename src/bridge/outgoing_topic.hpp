// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cardan/any_subscriber.hpp"
#include "cardan/any_type.hpp"
#include "src/bridge/counts.hpp"
#include "src/bridge/local_topic.hpp"
#include "src/bridge/rules.hpp"

namespace cardan::bridge {

/// A message on its way out, as `prefix + payload + suffix` in CDR with its header of four bytes. The payload is in the
/// publisher's memory, which the frame holds until it is destroyed.
/// Thread safety: immutable; may be destroyed on any thread.
struct OutgoingFrame {
  AnySample sample{};
  CdrFrame cdr{};
  std::int64_t publish_ns = 0;  ///< wall clock
  std::int64_t steady_ns = 0;   ///< the same by the steady clock, which nobody sets
  std::int64_t source_ns = 0;   ///< the application's stamp; 0: none
  std::uint64_t sequence = 0;   ///< in its stream, from 1
  [[nodiscard]] std::size_t size() const noexcept { return cdr.size(); }
};
using FramePtr = std::shared_ptr<const OutgoingFrame>;

struct OutgoingOptions {
  std::string domain{};
  std::string network{};  ///< streams that came through it are not sent (SubscriberOptions::not_via)
  Access access = Access::Owner;
  std::uint32_t holds = 2;    ///< frames that the bridge keeps at once. Each is a slot of the publisher.
  std::uint32_t depth = 0;    ///< samples that wait in the publisher's memory; 0: the topic's own depth
  bool reliable = false;      ///< requests reliable delivery from a reliable publisher
  bool source_times = false;  ///< a message's time is its source time: of a recording that is played
};

/// One topic that leaves. It subscribes only between open() and close(), so a topic without receivers costs its
/// publisher nothing.
/// Thread safety: one thread. No function blocks, except open() as AnySubscriber's constructor.
class OutgoingTopic {
 public:
  /// Throws Error (Incompatible): the type cannot be described.
  OutgoingTopic(LocalTopic topic, TopicRule rule, OutgoingOptions options);

  /// Throws what AnySubscriber's constructor throws.
  void open();
  void close();
  [[nodiscard]] bool is_open() const noexcept { return subscriber_.has_value(); }
  /// Readable when next() may have a frame. Only while it is open.
  [[nodiscard]] int fd() { return subscriber_->fd(); }
  /// When the next frame may leave (`max_hz`; steady clock, ns). Before that next() returns null, and fd() need not be
  /// looked at: what is not taken is not copied either.
  [[nodiscard]] std::int64_t due_ns() const noexcept { return due_ns_; }
  /// The next frame, or null: no frame, it is too early, or all `holds` are in use. `now`: steady clock, ns.
  [[nodiscard]] FramePtr next(std::int64_t now);

  /// The frame was handed on, or not. The bridge calls one of them for each frame.
  void carried(const OutgoingFrame& frame, std::size_t copied) noexcept;
  void thinned(std::uint64_t frames = 1) noexcept { counts_.thinned += frames; }
  void lost(std::uint64_t frames = 1) noexcept { counts_.lost += frames; }
  /// Cannot leave, as it is.
  void refused() noexcept { ++counts_.refused; }

  [[nodiscard]] const LocalTopic& topic() const noexcept { return topic_; }
  [[nodiscard]] const TopicRule& rule() const noexcept { return rule_; }
  [[nodiscard]] const AnyType& type() const noexcept { return framer_.type(); }
  [[nodiscard]] const std::string& beyond() const noexcept { return beyond_; }
  [[nodiscard]] TopicCounts counts() const noexcept { return counts_; }

 private:
  const LocalTopic topic_;
  const TopicRule rule_;
  const OutgoingOptions options_;
  const std::string beyond_;
  CdrFramer framer_;
  std::optional<AnySubscriber> subscriber_;
  std::int64_t period_ns_ = 0, due_ns_ = 0;
  TopicCounts counts_;
};

}  // namespace cardan::bridge
