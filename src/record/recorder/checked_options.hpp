// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cardan/recorder.hpp"

namespace cardan::record {

/// The options as the recorder takes them: what follows from others is filled in, and the folder is made if the
/// recording has its own. Throws Error: InvalidArgument (what makes no sense), System (the folder cannot be made). Any
/// thread; blocks for the disk.
[[nodiscard]] RecorderOptions checked(RecorderOptions options);

}  // namespace cardan::record
