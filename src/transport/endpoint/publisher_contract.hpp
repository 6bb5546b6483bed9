// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cardan/detail/message_type.hpp"
#include "cardan/topic.hpp"

namespace cardan::detail {

/// A name with a '?' is of a service (docs/protocols/service.md), and is not shown as a topic.
[[nodiscard]] inline bool is_of_service(std::string_view topic) noexcept {
  return topic.find('?') != std::string_view::npos;
}
/// Instead of a topic, for look_around(): the cards of all services.
inline constexpr std::string_view kAllServices = "?";
/// The same for all topics and the cards of all services.
inline constexpr std::string_view kEverything = "*";
/// Throws Error (InvalidArgument) if a user's topic has such a name.
void refuse_name_of_service(const std::string& topic);

/// The topic of a publisher, with all that it offers there.
struct PublisherContract {
  /// Throws Error (InvalidArgument).
  PublisherContract(std::string topic, MessageType type, const TopicOptions& options, std::string via,
                    std::uint32_t chain_entries);

  /// Slots that it needs without any subscriber: the last publications, its loans, and one that may still be held.
  [[nodiscard]] std::uint32_t fewest_slots() const noexcept { return options.depth + options.loans + 1; }

  std::string topic;
  MessageType type;
  TopicOptions options;
  std::string via;                  ///< the networks that its messages came through (PublisherOptions::via)
  std::uint32_t chain_entries = 0;  ///< ChainRole::entries
};

}  // namespace cardan::detail
