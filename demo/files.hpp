// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cardan/config/configuration.hpp"

namespace cardan::street {

/// The pedestrian street video of Debian's opencv-doc, where the set-up script puts it: build/data, next to the build
/// of this program, or in the working directory. Throws Error (Unavailable).
[[nodiscard]] std::string street_video();

/// demo/street.json: beside the build of this program, where an installation puts it, or in the working
/// directory. Throws Error (Unavailable).
[[nodiscard]] std::string street_file();

/// That file, read. `variables`: "name=value", as `--var`. Throws Error (InvalidArgument) for what is wrong in it.
[[nodiscard]] config::Configuration street_configuration(const std::vector<std::string>& variables = {});

}  // namespace cardan::street
