// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Receives messages whose type is known only at run time. Recorders, bridges and other languages use it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "cardan/any_publisher.hpp"
#include "cardan/clock.hpp"
#include "cardan/detail/duration.hpp"
#include "cardan/detail/message_type.hpp"
#include "cardan/detail/subscriber_end.hpp"
#include "cardan/error.hpp"
#include "cardan/sample.hpp"

namespace cardan {

class AnySample;

namespace detail {
struct EndOf;
struct Anything;
/// The publisher's block. The sample keeps its ownership.
SampleBlock* block_of(const AnySample& sample) noexcept;
/// Size of the fixed struct, in bytes.
std::size_t message_bytes_of(const SampleBlock& block) noexcept;
}  // namespace detail

/// A published message as bytes, read-only, in the publisher's memory. Otherwise as Sample<T>: functions without a
/// comment do what they do there, and return 0 for an empty sample. The content is unchecked, and a hostile publisher
/// may change it during the read. `CdrFramer` (cardan/any_type.hpp) checks what it uses.
/// Thread safety: as Sample<T>. Never blocks, allocates nothing.
class AnySample {
 public:
  AnySample() noexcept = default;

  explicit operator bool() const noexcept { return static_cast<bool>(sample_); }
  void reset() noexcept { sample_.reset(); }

  [[nodiscard]] std::uint64_t sequence() const noexcept { return sample_.sequence(); }
  [[nodiscard]] std::uint64_t missed() const noexcept { return sample_.missed(); }
  [[nodiscard]] std::int64_t publish_time() const noexcept { return sample_.publish_time(); }
  [[nodiscard]] std::int64_t source_time() const noexcept { return sample_.source_time(); }
  [[nodiscard]] std::int64_t origin_time() const noexcept { return sample_.origin_time(); }
  [[nodiscard]] std::optional<std::chrono::nanoseconds> origin_age() const noexcept { return sample_.origin_age(); }
  [[nodiscard]] std::chrono::nanoseconds age() const noexcept { return sample_.age(); }
  /// The message's fixed struct. Empty for an empty sample.
  [[nodiscard]] std::span<const std::byte> message() const noexcept {
    const detail::SampleBlock* const block = detail::block_of(sample_);
    if (block == nullptr) return {};
    return {static_cast<const std::byte*>(block->message), detail::message_bytes_of(*block)};
  }
  /// The bytes that its vectors and strings point into. Empty for an empty sample.
  [[nodiscard]] std::span<const std::byte> payload() const noexcept {
    const detail::SampleBlock* const block = detail::block_of(sample_);
    if (block == nullptr) return {};
    return {block->payload, static_cast<std::size_t>(block->payload_bytes)};
  }

 private:
  friend class AnySubscriber;
  friend detail::SampleBlock* detail::block_of(const AnySample& sample) noexcept;
  explicit AnySample(Sample<detail::Anything> sample) noexcept : sample_(std::move(sample)) {}
  Sample<detail::Anything> sample_;
};

namespace detail {
inline SampleBlock* block_of(const AnySample& sample) noexcept { return block_of(sample.sample_); }
}  // namespace detail

/// Receives messages of a type that the program was not compiled with, from every publisher of a topic. Functions
/// without a comment do what they do in Subscriber<T>.
/// Thread safety and cost: as Subscriber<T>.
class AnySubscriber {
 public:
  /// As Subscriber<T>'s constructor. A publisher whose `type.hash` differs is Incompatible. `topic_options` bound what
  /// is read; the default is what a topic can carry at most.
  AnySubscriber(const std::string& topic, AnyMessageType type,
                const TopicOptions& topic_options = {.max_bytes = std::size_t{1} << 30}, SubscriberOptions options = {})
      : end_(topic, detail::as_published(std::move(type)), nullptr, topic_options, std::move(options)) {}

  [[nodiscard]] AnySample take() noexcept { return sample(end_.take()); }
  [[nodiscard]] AnySample wait() noexcept { return sample(end_.wait()); }
  [[nodiscard]] AnySample wait(std::chrono::nanoseconds timeout) noexcept { return sample(end_.wait(timeout)); }
  [[nodiscard]] Reason reason() const noexcept { return end_.reason(); }
  [[nodiscard]] std::optional<Event> event() { return end_.event(); }
  [[nodiscard]] int fd() { return end_.fd(); }
  [[nodiscard]] std::uint64_t missed() const { return end_.missed(); }
  [[nodiscard]] std::uint64_t received() const { return end_.received(); }
  [[nodiscard]] std::uint64_t bad() const { return end_.bad(); }
  [[nodiscard]] std::size_t publishers() const noexcept { return end_.publishers(); }
  [[nodiscard]] const std::string& topic() const noexcept { return end_.topic(); }
  /// As given to the constructor, with `has_arena` false: samples stay as they were published.
  [[nodiscard]] const AnyMessageType& type() const noexcept { return end_.type(); }

 private:
  friend struct detail::EndOf;
  static AnySample sample(detail::SampleBlock* block) noexcept {
    return AnySample(detail::sample_of<detail::Anything>(block));
  }

  detail::SubscriberEnd end_;
};

}  // namespace cardan
