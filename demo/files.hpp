// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/system/plan/plan.hpp"

namespace cardan::street {

/// The camera's default: the pedestrian street video of Debian's opencv-doc, where the set-up
/// script puts it (build/data, next to the build of this program, or in the working directory); kDrawn if it is not
/// there, or in a build without OpenCV.
[[nodiscard]] std::string usual_camera();

/// demo/street.json: next to the build of this program, where an installation puts it, or in the working
/// directory. Throws Error (Unavailable).
[[nodiscard]] std::string street_file();

/// That file, read. Throws Error (InvalidArgument) for what is wrong in it.
[[nodiscard]] plan::Plan street_plan(const plan::PlanOptions& options = {});

}  // namespace cardan::street
