// SPDX-License-Identifier: Apache-2.0
// Message types that a program was not compiled with, and their ROS 2 wire form both ways: what recorders, players,
// bridges and other languages need.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cardan/messages/cdr.hpp"
#include "cardan/messages/type_layout.hpp"
#include "cardan/transport/any_publisher.hpp"
#include "cardan/transport/any_subscriber.hpp"
#include "cardan/transport/observer_report.hpp"

namespace cardan {

/// A type by its description. Immutable; any thread; copies are cheap but for the definition's text.
class AnyType {
 public:
  /// Of a `ros2msg` definition (the message's own fields, then those of the messages that it uses, each behind a line
  /// of 80 '=' and a line "MSG: package/Type"): Cardan's own type, where it has one of that name and these fields, else
  /// a layout of our making (layout_of_ros()). Throws Error: InvalidArgument with the line that makes no sense; Limit.
  /// Never blocks.
  [[nodiscard]] static AnyType of_definition(std::string_view name, std::string_view definition);
  /// Of what a publisher says of itself; `hash`: of the layout in which it publishes. Empty: how it lies in memory does
  /// not follow from the definition (alignas, bit fields). Never blocks; may take a second for a strange definition.
  [[nodiscard]] static std::optional<AnyType> of_publisher(const std::string& name, std::uint64_t hash,
                                                           const std::string& definition);
  /// Of a topic's first publisher; empty: there is none, or as above. Throws what Observer's constructor throws.
  /// Blocks, as that one.
  [[nodiscard]] static std::optional<AnyType> of_topic(const std::string& topic, const ObserverOptions& options = {});
  AnyType(std::shared_ptr<const TypeLayout> layout, AnyMessageType type);

  /// For AnyPublisher and AnySubscriber.
  [[nodiscard]] const AnyMessageType& message_type() const noexcept { return type_; }
  [[nodiscard]] const TypeLayout& layout() const noexcept { return *layout_; }

  /// The most payload (`TopicOptions::max_bytes`) that a message of so many bytes of CDR can need.
  [[nodiscard]] std::size_t payload_bytes(std::size_t cdr_bytes) const noexcept;
  /// Fills a loan of an AnyPublisher of this type from CDR bytes that may be hostile. False with the reason when they
  /// are not of this type or do not fit; the loan is then of no use. Never throws, blocks or allocates.
  [[nodiscard]] CdrResult fill(std::span<const std::byte> cdr, AnyLoan& loan) const noexcept;
  /// The same where the message's zeroed struct is at `message`, `arena` its storage (null: it has no vectors).
  [[nodiscard]] CdrResult fill(std::span<const std::byte> cdr, std::byte* message, shm::Arena* arena) const noexcept;

 private:
  std::shared_ptr<const TypeLayout> layout_;
  AnyMessageType type_;
};

/// Turns samples into their CDR form, `prefix + payload + suffix`: the payload is the largest list of numbers, where it
/// lies in the publisher's memory and not copied. Thread safety: none; one for each thread.
class CdrFramer {
 public:
  explicit CdrFramer(AnyType type) : type_(std::move(type)) { copy_.resize(type_.layout().size); }

  /// False: the sample is malformed (its publisher is hostile or broken), or there is no memory. Never throws or
  /// blocks; allocates until its buffers are as large as ever needed.
  [[nodiscard]] bool frame(const AnySample& sample) noexcept { return frame(sample.message(), sample.payload()); }
  [[nodiscard]] bool frame(std::span<const std::byte> message, std::span<const std::byte> payload) noexcept;
  /// Valid until the next call, the payload until the sample is dropped.
  [[nodiscard]] const CdrFrame& parts() const noexcept { return parts_; }
  [[nodiscard]] const AnyType& type() const noexcept { return type_; }

 private:
  AnyType type_;
  std::vector<std::byte> copy_;
  CdrFrame parts_;
};

}  // namespace cardan
