// SPDX-License-Identifier: Apache-2.0
// Paths that are written at the end of a run, or when something crashes, are tried at its start.
#pragma once

#include <string>

namespace cardan::apps {

/// Throws Error (InvalidArgument) when the file could not be written; it stays as it is, or away. `option`: which names
/// it.
void try_file(const std::string& path, const std::string& option);
/// The same for a new file in this folder, which is made for that if it is not there, and removed again.
void try_folder(const std::string& path, const std::string& option);

}  // namespace cardan::apps
