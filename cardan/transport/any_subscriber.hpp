// SPDX-License-Identifier: Apache-2.0
// Receiving messages of a type that is known at run time only: for recorders, bridges and other languages.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "cardan/base/clock.hpp"
#include "cardan/base/error.hpp"
#include "cardan/transport/any_publisher.hpp"
#include "cardan/transport/discovery/process.hpp"
#include "cardan/transport/endpoint/subscriber_core.hpp"
#include "cardan/transport/protocol/layout.hpp"
#include "cardan/transport/sample.hpp"

namespace cardan {

namespace detail {
struct Anything;
}

/// A published message as bytes, read-only, in the publisher's memory; otherwise as Sample<T>. What they say is
/// unchecked, and a hostile publisher may change them while they are read: `CdrFramer` (cardan/messages/any_type.hpp)
/// checks what it uses. Thread safety: as Sample<T>. Never blocks, allocates nothing.
class AnySample {
 public:
  AnySample() noexcept = default;
  explicit AnySample(Sample<detail::Anything> sample) noexcept : sample_(std::move(sample)) {}

  explicit operator bool() const noexcept { return static_cast<bool>(sample_); }
  void reset() noexcept { sample_.reset(); }

  // Each of these is 0, or empty, of an empty one.
  [[nodiscard]] std::uint64_t sequence() const noexcept { return sample_.sequence(); }
  [[nodiscard]] std::uint64_t missed() const noexcept { return sample_.missed(); }
  [[nodiscard]] std::int64_t publish_time() const noexcept { return sample_.publish_time(); }
  [[nodiscard]] std::int64_t source_time() const noexcept { return sample_.source_time(); }
  [[nodiscard]] std::chrono::nanoseconds age() const noexcept { return sample_.age(); }
  /// The message's fixed struct.
  [[nodiscard]] std::span<const std::byte> message() const noexcept {
    const detail::SampleBlock* const block = detail::block_of(sample_);
    if (block == nullptr) return {};
    return {static_cast<const std::byte*>(block->message), block->owner->type().bytes};
  }
  /// What its vectors and strings point into.
  [[nodiscard]] std::span<const std::byte> payload() const noexcept {
    const detail::SampleBlock* const block = detail::block_of(sample_);
    if (block == nullptr) return {};
    return {block->payload, static_cast<std::size_t>(block->payload_bytes)};
  }
  /// Of the publisher; stays the sample's.
  [[nodiscard]] detail::SampleBlock* block() const noexcept { return detail::block_of(sample_); }

 private:
  Sample<detail::Anything> sample_;
};

namespace detail {
inline SampleBlock* block_of(const AnySample& sample) noexcept { return sample.block(); }
}  // namespace detail

/// Receives messages of a type that the program was not compiled with, from every publisher of a topic. Thread safety
/// and cost: as Subscriber<T>.
class AnySubscriber {
 public:
  /// As Subscriber<T>'s constructor: publishers of another type, by `type.hash`, are Incompatible. `topic_options`:
  /// what is read is bounded by them; by default by what a topic can carry.
  AnySubscriber(const std::string& topic, AnyMessageType type,
                const TopicOptions& topic_options = {.max_bytes = layout::kMaxPayload}, SubscriberOptions options = {})
      : process_(detail::Process::of(options.domain)),
        core_(detail::SubscriberCore::create(topic, untyped(std::move(type)), nullptr, topic_options,
                                             std::move(options))) {
    try {
      process_.add(core_);
    } catch (...) {
      core_->drop_reference();
      throw;
    }
  }
  AnySubscriber(const AnySubscriber&) = delete;
  AnySubscriber& operator=(const AnySubscriber&) = delete;
  ~AnySubscriber() {
    if (is_forked_child()) return;
    process_.remove(core_);
    core_->drop_reference();
  }

  // As those of Subscriber<T>.
  [[nodiscard]] AnySample take() noexcept { return sample(core_->take()); }
  [[nodiscard]] AnySample wait() noexcept { return sample(core_->wait(0)); }
  [[nodiscard]] AnySample wait(std::chrono::nanoseconds timeout) noexcept {
    return sample(core_->wait(steady_now() + timeout.count()));
  }
  [[nodiscard]] Reason reason() const noexcept { return core_->reason(); }
  [[nodiscard]] std::optional<Event> event() { return core_->next_event(); }
  [[nodiscard]] int fd() { return core_->fd(); }
  [[nodiscard]] std::uint64_t missed() const { return core_->missed(); }
  [[nodiscard]] std::uint64_t received() const { return core_->received(); }
  [[nodiscard]] std::uint64_t bad() const { return core_->bad(); }
  [[nodiscard]] std::size_t publishers() const noexcept { return core_->streams(); }
  [[nodiscard]] const std::string& topic() const noexcept { return core_->topic(); }
  [[nodiscard]] const AnyMessageType& type() const noexcept { return core_->type(); }

  /// For wait_any().
  [[nodiscard]] detail::SubscriberCore& core() const noexcept { return *core_; }

 private:
  /// Samples stay as they were published: who reads them copies and checks what it needs.
  static AnyMessageType untyped(AnyMessageType type) {
    type.has_arena = false;
    type.arena_bytes = 0;
    return type;
  }
  static AnySample sample(detail::SampleBlock* block) noexcept {
    return AnySample(detail::sample_of<detail::Anything>(block));
  }

  detail::Process& process_;
  detail::SubscriberCore* core_;
};

}  // namespace cardan
