// SPDX-License-Identifier: Apache-2.0
// Commands that look at what runs, where CARDAN_RUN_DIR names a directory that does not exist. To look must not make
// it.
#pragma once

#include <string>

namespace cardan::apps {

/// For a command that asks for something by its name. Throws Error (Unavailable) if the directory does not exist.
void refuse_missing_run_directory();

/// For a list, and for a view that continues: whether the directory does not exist, so that nothing runs there yet.
/// Says so on standard error, once. One thread.
[[nodiscard]] bool nothing_runs_yet();

/// The same in words; "": it exists. Any thread.
[[nodiscard]] std::string why_nothing_runs();

/// The folder of CARDAN_RUN_DIR; "": not set.
[[nodiscard]] std::string named_run_directory();

}  // namespace cardan::apps
