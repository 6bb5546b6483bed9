// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cardan::bridge::foxglove {

/// Whether a request's header Host names this computer by an address, as "localhost", or by its own name. Another name
/// may be a foreign page's that was made to point here (DNS rebinding). Any thread; does not block.
[[nodiscard]] bool is_own_host(std::string_view host);

/// Whether a page may connect. `origin`: the header Origin; a browser always sends it, other programs need not.
/// `allowed`: origins, as "https://app.foxglove.dev"; "*": all. Any thread; does not block.
[[nodiscard]] bool may_connect(std::string_view origin, std::string_view host, const std::vector<std::string>& allowed);

}  // namespace cardan::bridge::foxglove
