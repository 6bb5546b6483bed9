// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "src/config/document.hpp"
#include "src/config/shape.hpp"

namespace cardan::config {

/// Holds the tree against the table of shape.hpp: unknown and missing keys, wrong types, values out of range. A wrong
/// value becomes Bad, so that later readers of the tree find only valid values.
void check_shape(Node& root, const Source& source, std::vector<Problem>& problems);

/// The same of a part, which `subject` names in messages ("'include' of the file"); `key`: where its name is.
void check_shape(Node& node, const Field& field, const std::string& pointer, Place key, const std::string& subject,
                 const Source& source, std::vector<Problem>& problems);

}  // namespace cardan::config
