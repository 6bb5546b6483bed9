// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cardan/detail/duration.hpp"
#include "cardan/detail/message_type.hpp"
#include "cardan/detail/sample_block.hpp"
#include "cardan/endpoint_options.hpp"

namespace cardan {
class ObservedSample;
}

namespace cardan::detail {

class Process;
class SubscriberCore;

/// The base of Subscriber<T> and AnySubscriber: attached as long as this object lives. It can be moved. No function of
/// a moved-from object may be called.
class SubscriberEnd {
 public:
  /// Throws Error: Incompatible, Refused, NoMemory, Limit, Unavailable, InvalidArgument, Forked.
  SubscriberEnd(std::string topic, MessageType type, AdoptFunction adopt, const TopicOptions& options,
                SubscriberOptions endpoint);
  SubscriberEnd(SubscriberEnd&& other) noexcept;
  SubscriberEnd& operator=(SubscriberEnd&& other) noexcept;
  SubscriberEnd(const SubscriberEnd&) = delete;
  SubscriberEnd& operator=(const SubscriberEnd&) = delete;
  ~SubscriberEnd() { end(); }

  /// The caller gets one reference. Null: there is no sample.
  [[nodiscard]] SampleBlock* take() noexcept;
  [[nodiscard]] SampleBlock* wait() noexcept;
  [[nodiscard]] SampleBlock* wait(std::chrono::nanoseconds timeout) noexcept;
  bool copy_latest(ObservedSample& into);
  [[nodiscard]] Reason reason() const noexcept;
  [[nodiscard]] std::optional<Event> event();
  [[nodiscard]] int fd();
  [[nodiscard]] std::uint64_t missed() const;
  [[nodiscard]] std::uint64_t received() const;
  [[nodiscard]] std::uint64_t bad() const;
  [[nodiscard]] std::size_t publishers() const noexcept;
  [[nodiscard]] std::chrono::nanoseconds spun() const;
  [[nodiscard]] const std::string& topic() const noexcept;
  [[nodiscard]] const MessageType& type() const noexcept;
  [[nodiscard]] SubscriberCore& core() const noexcept { return *core_; }

 private:
  void end() noexcept;

  Process* process_;
  SubscriberCore* core_;
};

/// The end of a Subscriber<T> or AnySubscriber, for what waits for several.
struct EndOf {
  template <class S>
  static const SubscriberEnd& of(const S& subscriber) noexcept {
    return subscriber.end_;
  }
};

}  // namespace cardan::detail
