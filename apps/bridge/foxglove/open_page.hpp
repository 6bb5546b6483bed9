// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cardan::apps {

/// Shows an address in this user's browser (xdg-open), which lives on by itself. Returns why not; empty: it was asked.
/// The program is looked for in absolute folders of PATH alone. One thread; blocks for milliseconds.
[[nodiscard]] std::string open_in_browser(const std::string& address);

}  // namespace cardan::apps
