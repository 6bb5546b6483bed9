// SPDX-License-Identifier: Apache-2.0
// `cardan bag export` for the viewer Rerun, whose files the Python package writes.
#pragma once

#include <string>

#include "apps/bag/bag.hpp"

namespace cardan::apps {

/// The file of Rerun that --to means: FILE.rrd itself, or with the word `rerun` the recording's name with .rrd, next to
/// the recording. "": --to means a folder. Throws Error (InvalidArgument) if the word can mean both.
[[nodiscard]] std::string rerun_file(const BagExportOptions& options);

/// Looks at the recording, the selection and the file, and becomes the interpreter that writes the file. Throws Error:
/// one of them is wrong, or the interpreter or a package is missing.
[[noreturn]] void become_rerun(const BagExportOptions& options, const std::string& file);

}  // namespace cardan::apps
