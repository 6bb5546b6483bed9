// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "src/transport/endpoint/publisher_core.hpp"

namespace cardan::detail {

class SubscriberCore;

/// The announcement of a subscriber to each publisher when it attaches, over a socket or within the process.
struct Announcement {
  std::uint32_t holds = 1;    ///< samples that it keeps at once
  std::uint32_t threads = 1;  ///< threads that take at once
  std::uint32_t depth = 0;    ///< samples that it asks the publisher to keep; 0: it does not say
  bool background = false;
  bool reliable = false;
  bool prewake = false;
  bool follows = false;   ///< follow(): its descriptor may be rung by the helper thread
  std::string not_via{};  ///< a network: what came through it is not wanted

  [[nodiscard]] static Announcement of(const SubscriberCore& subscriber);
  /// Reads its fields from an `attach` message. Empty: out of range.
  [[nodiscard]] static std::optional<Announcement> read(const nlohmann::json& message);
  void write(nlohmann::json& message) const;
};

/// Whether messages that came through these networks (SubscriberOptions::not_via) are not wanted.
[[nodiscard]] bool came_through(std::string_view via, std::string_view network) noexcept;

/// Makes the publisher's entry for a subscriber with this page, with the bell on which it sleeps. The entry is not in
/// the table yet. Throws Error (Limit).
[[nodiscard]] std::unique_ptr<Attached> make_attached(PublisherCore& publisher, const Announcement& announced,
                                                      uid_t uid, const std::shared_ptr<BellBoard>& board,
                                                      const layout::SubscriberPage* page);

}  // namespace cardan::detail
