// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Message types that a program was not compiled with, and conversion from and to their ROS 2 wire form. Recorders,
/// players, bridges and other languages use it.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cardan/any_publisher.hpp"
#include "cardan/any_subscriber.hpp"
#include "cardan/cdr.hpp"
#include "cardan/observer_report.hpp"
#include "cardan/type_layout.hpp"

namespace cardan {

/// A type by its description. Copies are cheap except for the definition's text.
/// Thread safety: immutable; any thread.
class AnyType {
 public:
  /// Makes the type of a `ros2msg` definition: the message's own fields, then those of the messages that it uses, each
  /// after a line of 80 '=' and a line "MSG: package/Type". The result is Cardan's own type if there is one of that
  /// name with these fields, otherwise a layout of our making (layout_of_ros()). Throws Error: InvalidArgument with the
  /// line that makes no sense; Limit.
  /// Never blocks.
  [[nodiscard]] static AnyType of_definition(std::string_view name, std::string_view definition);
  /// Makes the type from what a publisher reports. `hash` is the hash of the layout in which it publishes. Empty if the
  /// memory layout does not follow from the definition (alignas, bit fields).
  /// Never blocks; may take a second for a strange definition.
  [[nodiscard]] static std::optional<AnyType> of_publisher(const std::string& name, std::uint64_t hash,
                                                           const std::string& definition);
  /// Makes the type of a topic's first publisher. Empty if there is none, or as above. Throws what Observer's
  /// constructor throws.
  /// Blocks as Observer's constructor does.
  [[nodiscard]] static std::optional<AnyType> of_topic(const std::string& topic, const ObserverOptions& options = {});
  /// Of a layout and its description, as find_layout() and message_type_of() give them. The two must belong together.
  AnyType(std::shared_ptr<const TypeLayout> layout, AnyMessageType type);

  /// For AnyPublisher and AnySubscriber.
  [[nodiscard]] const AnyMessageType& message_type() const noexcept { return type_; }
  /// The memory layout. Valid as long as this object.
  [[nodiscard]] const TypeLayout& layout() const noexcept { return *layout_; }

  /// The largest payload (`TopicOptions::max_bytes`) that a message of `cdr_bytes` bytes of CDR can need.
  [[nodiscard]] std::size_t payload_bytes(std::size_t cdr_bytes) const noexcept;
  /// Fills a loan of an AnyPublisher of this type from CDR bytes that may be hostile. Returns false with the reason if
  /// they are not of this type or do not fit; do not use the loan then.
  /// Never throws, blocks or allocates.
  [[nodiscard]] CdrResult fill(std::span<const std::byte> cdr, AnyLoan& loan) const noexcept;
  /// The same from bytes in pieces, each of which is copied once. It may allocate for a short text in two pieces.
  [[nodiscard]] CdrResult fill(CdrPieces cdr, AnyLoan& loan) const noexcept;
  /// As above, for a message whose zeroed struct is at `message`. `arena` is its storage (null: it has no vectors).
  [[nodiscard]] CdrResult fill(std::span<const std::byte> cdr, std::byte* message, shm::Arena* arena) const noexcept;

 private:
  std::shared_ptr<const TypeLayout> layout_;
  AnyMessageType type_;
};

/// Converts samples to their CDR form, `prefix + payload + suffix`. The payload is the largest list of numbers; it
/// stays in the publisher's memory and is not copied.
/// Thread safety: none; use one framer for each thread.
class CdrFramer {
 public:
  /// For samples of this type. Throws std::bad_alloc.
  explicit CdrFramer(AnyType type) : type_(std::move(type)) { copy_.resize(type_.layout().size); }

  /// Returns false if the sample is malformed (a hostile or broken publisher), or if memory runs out.
  /// Never throws or blocks; allocates until its buffers have reached the largest size needed.
  [[nodiscard]] bool frame(const AnySample& sample) noexcept { return frame(sample.message(), sample.payload()); }
  /// The same for a sample whose bytes are at hand, as AnySample::message() and payload() give them.
  [[nodiscard]] bool frame(std::span<const std::byte> message, std::span<const std::byte> payload) noexcept;
  /// Valid until the next call; the payload is valid until the sample is dropped.
  [[nodiscard]] const CdrFrame& parts() const noexcept { return parts_; }
  /// Hands them over, for a message that is sent later. The next frame() then allocates again.
  [[nodiscard]] CdrFrame take_parts() noexcept { return std::exchange(parts_, {}); }
  [[nodiscard]] const AnyType& type() const noexcept { return type_; }

 private:
  AnyType type_;
  std::vector<std::byte> copy_;
  CdrFrame parts_;
};

}  // namespace cardan
