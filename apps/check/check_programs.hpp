// SPDX-License-Identifier: Apache-2.0
// Of recorders and programs that a configuration names: whether `cardan run` can start them. Starts nothing.
#pragma once

#include <vector>

#include "cardan/configuration.hpp"

namespace cardan::apps {

/// Problems, each at its place in the file. Any thread; blocks for the file system.
[[nodiscard]] std::vector<config::Problem> check_programs(const config::Configuration& configuration);

}  // namespace cardan::apps
