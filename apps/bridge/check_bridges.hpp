// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cardan/configuration.hpp"

namespace cardan::apps {

/// Problems of the bridges of a configuration: their programs and files of rules. Problems in a file of rules
/// have its path and places. Any thread; blocks for the file system.
[[nodiscard]] std::vector<config::Problem> check_bridges(const config::Configuration& configuration);

}  // namespace cardan::apps
