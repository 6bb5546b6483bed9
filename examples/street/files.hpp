// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cardan::street {

/// The pedestrian street video of Debian's opencv-doc, where the set-up script puts it: build/data, next to the build
/// of this program, or in the working directory. Throws Error (Unavailable).
[[nodiscard]] std::string street_video();

/// examples/street/street.json: beside the build of this program, where an installation puts it, or in the working
/// directory. Throws Error (Unavailable).
[[nodiscard]] std::string street_file();

}  // namespace cardan::street
