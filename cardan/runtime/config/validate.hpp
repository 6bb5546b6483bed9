// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cardan/runtime/config/document.hpp"

namespace cardan::config {

/// Holds the tree against the table of shape.hpp: unknown and missing keys, wrong types, values out of range. What is
/// wrong becomes Bad, so that whoever reads the tree afterwards finds only what is as it should be.
void validate(Node& root, std::vector<Problem>& problems);

}  // namespace cardan::config
