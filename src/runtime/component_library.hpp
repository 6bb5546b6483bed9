// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cardan/component.hpp"

namespace cardan {

/// Loads the library that a configuration names, from component_library_path(). Throws Error as
/// load_component_library(); of one that is not there the remedy names those that look like it. Set-up; any thread.
void load_library_of(const std::string& configuration_file, const std::string& library);

}  // namespace cardan
