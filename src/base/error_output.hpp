// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace cardan::detail {

/// Writes one line to standard error and never waits for its reader, because a pipe that is not read would stop the
/// helper thread. A line that does not fit is dropped; the next line that fits reports how many were dropped.
/// Any thread; also in a child of fork().
void write_error_line(const std::string& line) noexcept;

}  // namespace cardan::detail
