// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cardan/memory/socket.hpp"
#include "cardan/transport/topic.hpp"

namespace cardan::detail {

/// Decides whether the process behind `peer` may share `topic` with this process; empty: yes, else the reason in words.
/// Both sides ask: a publisher of who subscribes, a subscriber of who publishes. An unmapped user (65534) matches no
/// user and no list. Policy (Access::Policy): the JSON file $CARDAN_POLICY, else `policy.json` in `run_dir`:
/// `{"topics": [{"topic": "/camera/*", "users": ["perception", 1001], "groups": ["video"]}]}`, first match counts, no
/// match refuses; read at each decision, so that an edit counts at once. Throws Error (InvalidArgument) when it is no
/// such file.
std::string refusal(Access access, const std::string& topic, const socket::Peer& peer, const std::string& run_dir);

}  // namespace cardan::detail
