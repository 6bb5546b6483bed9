// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cardan::apps {

/// For a command that looks at what runs. Throws Error (Unavailable) if CARDAN_RUN_DIR names a directory that does not
/// exist: nothing runs there, and to look must not make it.
void refuse_missing_run_directory();

}  // namespace cardan::apps
