// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cardan/fixed_string.hpp"
#include "cardan/message.hpp"
#include "cardan/service_options.hpp"
#include "cardan/shm_string.hpp"

namespace cardan::detail {

class PublisherCore;

/// A server's description of its service, on the service's card: a topic that clients find by name, and observers read.
struct ServiceCard {
  FixedString<127> question_type, answer_type;
  std::uint64_t question_layout, answer_layout;
  std::uint64_t max_bytes, max_answer_bytes;
  std::uint32_t pending;
  shm::string question_schema, answer_schema;  ///< ros2msg text; empty: it is longer than kMostSchema
};
inline constexpr std::size_t kMostSchema = std::size_t{64} << 10;
/// Of the card's two texts, with their alignment.
inline constexpr std::size_t kMostCardBytes = 2 * kMostSchema + 4096;

/// Names of topics that cannot be a user's, because a name has no '?' … of the card, and of both sides' subscribers.
[[nodiscard]] std::string card_topic(const std::string& service);
/// A name that nobody can guess, for one client's questions or answers.
[[nodiscard]] std::string secret_topic(const std::string& service);
/// Whether it has the form of such a name: a peer must not lead us to another topic.
[[nodiscard]] bool is_secret_topic(const std::string& service, const std::string& topic) noexcept;
/// Publications that the one reader of a session's stream has not taken yet. One more than the stream's depth would
/// overwrite one of them. The reader's word: if it lies, it harms its own session. Takes a mutex.
[[nodiscard]] std::uint64_t untaken(const PublisherCore& core);
/// Throws Error (InvalidArgument).
void check_service(const std::string& service, const ServiceOptions& options);

}  // namespace cardan::detail

CARDAN_MESSAGE(cardan::detail::ServiceCard, "cardan_msgs/msg/ServiceCard", question_type, answer_type, question_layout,
               answer_layout, max_bytes, max_answer_bytes, pending, question_schema, answer_schema);
