// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cardan/detail/loaned_slot.hpp"
#include "cardan/detail/message_type.hpp"
#include "cardan/endpoint_options.hpp"

namespace cardan::detail {

class Process;

/// The base of Publisher<T> and AnyPublisher: the stream, announced as long as this object lives. It can be moved. A
/// moved-from object has no loans, and its other functions must not be called.
class PublisherEnd {
 public:
  /// Throws Error: NoMemory, Limit, Unavailable, InvalidArgument, Forked.
  PublisherEnd(std::string topic, MessageType type, const TopicOptions& options, const PublisherOptions& endpoint);
  PublisherEnd(PublisherEnd&&) noexcept = default;
  PublisherEnd& operator=(PublisherEnd&& other) noexcept;
  PublisherEnd(const PublisherEnd&) = delete;
  PublisherEnd& operator=(const PublisherEnd&) = delete;
  ~PublisherEnd() { end(); }

  // Publishing thread:
  [[nodiscard]] LoanedSlot loan() noexcept;
  static bool publish(const Filled& filled) noexcept;
  /// Returns false if there is no room by `until` (steady clock, ns).
  [[nodiscard]] bool wait_for_room(std::int64_t until) noexcept;
  // Any thread:
  [[nodiscard]] std::uint64_t published() const noexcept;
  [[nodiscard]] std::size_t subscribers() const;
  void set_checksum(bool on) noexcept;
  [[nodiscard]] const std::string& topic() const noexcept;
  [[nodiscard]] const MessageType& type() const noexcept;

 private:
  void end() noexcept;

  Process* process_;
  std::shared_ptr<PublisherCore> core_;
};

}  // namespace cardan::detail
