// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cardan::bridge::foxglove {

/// The names under which this server is asked for.
struct OwnNames {
  std::vector<std::string> hosts{};  ///< without a port, as "vehicle.local"; those that the user vouches for
  std::string address{};             ///< the address that the connection came to
};

/// Whether a request's header Host names this server: localhost or a name below it, an address of the loopback, the
/// address that the connection came to, or one of the hosts. Any other name may be a foreign page's that was made to
/// point here (DNS rebinding), also the computer's own: the computer that answers for it on the network decides where
/// it points. Asks no DNS. Any thread; does not block.
[[nodiscard]] bool is_own_host(std::string_view host, const OwnNames& names);

/// Whether a page may connect. `origin`: the header Origin; a browser always sends it, other programs need not.
/// `allowed`: origins, as "https://app.foxglove.dev"; "*": all. Any thread; does not block.
[[nodiscard]] bool may_connect(std::string_view origin, std::string_view host, const std::vector<std::string>& allowed,
                               const OwnNames& names);

}  // namespace cardan::bridge::foxglove
