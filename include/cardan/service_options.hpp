// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cardan/topic.hpp"

namespace cardan {

/// Whether a server publishes its questions and answers on `<service>/_service_event`, for recorders and `cardan topic
/// echo`: ROS 2's service introspection. The server's user alone can read it.
enum class Introspection : std::uint8_t {
  Off,       ///< costs nothing
  Metadata,  ///< their times, clients and numbers
  Contents,  ///< also the messages: each is copied, and 2 × `pending` + 2 slots of the larger one are committed
};

/// The contract of a service. Both sides include the same one.
struct ServiceOptions {
  /// Payload bytes of a question beyond its fixed part, as TopicOptions::max_bytes.
  std::size_t max_bytes = 0;
  /// The same of an answer. Each client costs the server 2 × `pending` + `answers` + `holds` + 2 slots of this size.
  std::size_t max_answer_bytes = 0;
  /// Questions of one client without an answer, at most 64. Asking more fails at once (NoAnswer::Full).
  std::uint32_t pending = 4;
  /// Answers to one client that are filled at once, 1 to 64.
  std::uint32_t answers = 1;
  /// Answers that a client keeps at once, 1 to 100, in addition to those that it has not looked at.
  std::uint32_t holds = 1;
  /// Users that may ask, and users whose server a client asks.
  Access access = Access::Owner;
  /// How both sides wait.
  Waiting waiting{};
  /// Of the server alone. `introspection` of a component in the configuration changes it.
  Introspection introspection = Introspection::Off;
};

/// Options of one server.
struct ServerOptions {
  /// As PublisherOptions::domain.
  std::string domain{};
  /// Questions that it keeps at once, at most 200, in addition to the one that it has just taken.
  std::uint32_t holds = 8;
};

/// Options of one client.
struct ClientOptions {
  /// As PublisherOptions::domain.
  std::string domain{};
};

/// Why a question has no answer.
enum class NoAnswer : std::uint8_t {
  None,        ///< it has one
  Pending,     ///< it is not known yet
  NoServer,    ///< nobody serves this client now
  Full,        ///< `pending` questions wait for their answers or for the server, or all loans are out
  TimedOut,    ///< the question's time is over
  Declined,    ///< the server did not answer, and says why
  ServerDied,  ///< the server ended, or its process died; whether it has seen the question is not known
  Cancelled,   ///< the ticket was dropped
  Stopped,     ///< a stop was requested
};

/// The word for it, as used in JSON output.
const char* to_string(NoAnswer reason) noexcept;

}  // namespace cardan
