// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "cardan/any_publisher.hpp"
#include "cardan/any_type.hpp"
#include "cardan/detail/atomic.hpp"
#include "cardan/service_options.hpp"
#include "src/transport/service/served_caller.hpp"

namespace cardan::detail {

/// The topic on which a server publishes its questions and answers, as ROS 2's service introspection names it.
[[nodiscard]] std::string events_topic(const std::string& service);
/// The type of its messages, as ROS 2 has it: ServiceEventInfo `info`, and the question or the answer in a list of at
/// most one. "pkg/srv/Map_Event" of a question "pkg/srv/Map_Request" and an answer "pkg/srv/Map_Response"; otherwise
/// it has the name of the question.
[[nodiscard]] std::string events_type(const MessageType& question, const MessageType& answer);
[[nodiscard]] std::string events_definition(const MessageType& question, const MessageType& answer);

/// Publishes what a server is asked and answers (docs/recording.md). Any thread; takes a mutex, and copies the message.
class ServiceEvents {
 public:
  /// Of `event_type`: values of service_msgs/msg/ServiceEventInfo.
  enum class Kind : std::uint8_t { RequestSent, RequestReceived, ResponseSent, ResponseReceived };

  /// Throws Error: InvalidArgument (the contents of such a message cannot be read without its type), and as the
  /// constructor of a publisher.
  ServiceEvents(const std::string& service, const MessageType& question, const MessageType& answer,
                const ServiceOptions& options, const std::string& domain);
  /// The server has taken it.
  void received(const ServedCaller& caller, const SampleBlock& question) noexcept;
  /// The server answers the question of that sequence. `message` is in this process's own slot.
  void answered(const ServedCaller& caller, std::uint64_t sequence, const void* message,
                std::span<const std::byte> payload) noexcept;
  /// Reports a message that had no room, once. Call it without locks: the log's sink may do anything.
  void report() noexcept;
  /// Publishes nothing any more.
  void close() noexcept;

 private:
  /// A side of the service: how its messages are read, and the list in the event that takes one.
  struct Side {
    CdrFramer framer;
    const TypeLayout::Field* list;
  };
  /// Returns false if the message does not fit.
  [[nodiscard]] bool put(Side& side, std::span<const std::byte> message, std::span<const std::byte> payload,
                         AnyLoan& loan) const noexcept;
  void publish(Kind kind, const ServedCaller& caller, std::uint64_t sequence, std::optional<Side>& side,
               std::span<const std::byte> message, std::span<const std::byte> payload) noexcept;

  const std::string topic_;
  const AnyType type_;
  std::mutex mutex_;
  std::optional<Side> question_, answer_;  ///< empty: only that there was one is published
  std::optional<AnyPublisher> publisher_;
  Atomic<std::size_t> without_room_{0};  ///< bytes of the first one that had none
  Atomic<bool> told_{false};
};

}  // namespace cardan::detail
