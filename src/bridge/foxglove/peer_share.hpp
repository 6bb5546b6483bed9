// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cardan::bridge::foxglove {

/// In whose share the connection of an accepted TCP socket counts. Empty: our own user's or root's. Otherwise "user
/// 1000" for a program of this computer; or, if no user of this network namespace is known to have the other end, its
/// address. Both get a limited share. Any thread; does not block.
[[nodiscard]] std::string share_of_peer(int socket);

}  // namespace cardan::bridge::foxglove
