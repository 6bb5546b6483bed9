// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cardan/topic.hpp"
#include "src/base/socket.hpp"

namespace cardan::detail {

/// Decides whether the process of `peer` may share `topic` with this process. Empty: yes; otherwise the reason in
/// words. A publisher checks each subscriber, a subscriber each publisher. A user that our user namespace does not map
/// matches no user and no list. Access::Policy calls Policy::refusal_by(), so that an edit takes effect at once. Throws
/// Error if the policy file cannot be read or must not be trusted.
std::string refusal(Access access, const std::string& topic, const socket::Peer& peer, const std::string& run_dir);

/// The decision by the owner of a name in the run directory, before any connection: false means that refusal() would
/// refuse that user, whatever its groups. For RunDirectory::connect().
bool may_be_accepted(Access access, uid_t owner) noexcept;

/// A user with its groups from the user database, for use before a connection exists. Can block.
socket::Peer peer_by_database(uid_t user);

}  // namespace cardan::detail
