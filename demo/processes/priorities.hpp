// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cardan/configuration.hpp"
#include "cardan/realtime.hpp"

namespace cardan::street {

/// The kernel's answer to the most urgent thread of a configuration, for people: a sentence or two, with what to
/// grant where it refuses. `asked`: what was granted to a thread that asked for its policy and nice value.
[[nodiscard]] std::string priorities_text(const RealtimeReport& asked);

/// Asks for the street's most urgent priority, on its own thread. Blocks for a moment.
[[nodiscard]] RealtimeReport ask_for_priorities(const config::Configuration& configuration);

}  // namespace cardan::street
