// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "src/transport/discovery/handshake.hpp"
#include "src/transport/endpoint/publisher_core.hpp"

namespace cardan::detail {

class SubscriberCore;

[[nodiscard]] handshake::Announcement announcement_of(const SubscriberCore& subscriber);

/// Whether messages that came through these networks (SubscriberOptions::not_via) are not wanted.
[[nodiscard]] bool came_through(std::string_view via, std::string_view network) noexcept;

/// Makes the publisher's entry for a subscriber with this page, with the bell on which it sleeps. The entry is not in
/// the table yet. Throws Error (Limit).
[[nodiscard]] std::unique_ptr<Attached> make_attached(PublisherCore& publisher,
                                                      const handshake::Announcement& announced, uid_t uid,
                                                      const std::shared_ptr<BellBoard>& board,
                                                      const layout::SubscriberPage* page);

}  // namespace cardan::detail
