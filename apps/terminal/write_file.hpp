// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cardan::apps {

/// Replaces a file's content. Throws Error (System) with the cause.
void write_file(const std::string& path, const std::string& text);

}  // namespace cardan::apps
